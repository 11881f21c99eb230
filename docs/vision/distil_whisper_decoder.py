# SPDX-License-Identifier: Apache-2.0
"""A token of distil-large-v3's decoder, which has two layers, behind 128 others, on one chip.

Weights are random. Run it with --no-values.
"""

from speech import Sizes, measure_decoder

measure_decoder("distil-Whisper-decoder", Sizes(decoder_layers=2))
