# SPDX-License-Identifier: Apache-2.0
"""Implements tt_lib, the older package beside ttnn that tests of tt-metal still import."""
