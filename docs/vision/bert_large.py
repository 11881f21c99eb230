# SPDX-License-Identifier: Apache-2.0
"""BERT-large in the form of tt-metal's sharded model: sentences/s of 8 sentences of 384 tokens on one Wormhole chip.

Weights are random. Run it with --no-values.
"""

from encoders import Answers, Sizes, measure_encoder

measure_encoder("BERT-large", Sizes(layers=24, width=1024, heads=16, words=30522), Answers)
