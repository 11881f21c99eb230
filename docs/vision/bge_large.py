# SPDX-License-Identifier: Apache-2.0
"""BGE-large, whose encoder is BERT-large's: embeddings/s of 8 texts of 384 tokens on one Wormhole chip.

That of bge-m3, XLM-R large, has the same layers. Weights are random. Run it with --no-values.
"""

from encoders import Mean, Sizes, measure_encoder

measure_encoder("BGE-large", Sizes(layers=24, width=1024, heads=16, words=30522), Mean)
