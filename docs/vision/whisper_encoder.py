# SPDX-License-Identifier: Apache-2.0
"""The encoder of Whisper large-v3, which distil-large-v3 has too: 30 s of sound on one chip.

Weights are random. Run it with --no-values.
"""

from speech import Sizes, measure_encoder

measure_encoder("Whisper-encoder", Sizes())
