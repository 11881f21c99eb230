# SPDX-License-Identifier: Apache-2.0
"""A token of Whisper large-v3's decoder behind 128 others, on one chip.

Weights are random. Run it with --no-values.
"""

from speech import Sizes, measure_decoder

measure_decoder("Whisper-decoder", Sizes())
