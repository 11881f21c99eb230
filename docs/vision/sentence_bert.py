# SPDX-License-Identifier: Apache-2.0
"""Sentence-BERT, BERT-base with a mean: embeddings/s of 8 texts of 384 tokens on one Wormhole chip.

Weights are random. Run it with --no-values.
"""

from encoders import Mean, Sizes, measure_encoder

measure_encoder("Sentence-BERT", Sizes(layers=12, width=768, heads=12, words=32000), Mean)
