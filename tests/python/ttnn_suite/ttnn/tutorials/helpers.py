# SPDX-License-Identifier: Apache-2.0
"""A module of the user's own below a folder named ttnn."""

SIZES = (32, 64)
