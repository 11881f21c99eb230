# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.data: characters as tokens, and batches of them."""

import os

import numpy

from ..models._transformer import causal_mask
from ..models.kv_cache import tiled
from .config import TrainingConfig


class CharTokenizer:
    """Numbers characters: token 0 pads, then come the characters of a text in their order, then the
    marks of both ends."""

    def __init__(self, text, add_padding_token=True, add_begin_end_tokens=True):
        self._first = int(add_padding_token)
        self.characters = sorted(set(text))
        self._token = {c: i + self._first for i, c in enumerate(self.characters)}
        self.vocab_size = len(self.characters) + self._first + 2 * int(add_begin_end_tokens)

    def encode(self, text):
        try:
            return [self._token[c] for c in text]
        except KeyError as unknown:
            raise ValueError(f"CharTokenizer: {unknown} is not in the text of the tokenizer") from None

    def decode(self, tokens):
        count = len(self.characters)
        return "".join(self.characters[t - self._first] for t in tokens
                       if self._first <= t < count + self._first)

    def get_vocab_size(self):
        return self.vocab_size


def load_shakespeare_text():
    """Returns the text of data/shakespeare.txt, here or in tt-train."""
    roots = [os.environ.get(name) for name in ("TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME")]
    places = ["data/shakespeare.txt"] + [os.path.join(root, "tt-train", "data", "shakespeare.txt")
                                         for root in roots if root]
    for path in places:
        if os.path.exists(path):
            with open(path) as file:
                return file.read()
    raise FileNotFoundError(f"load_shakespeare_text: none of {', '.join(places)} is there")


def get_batch(ids, seq_len, batch_size, rng=None):
    """Returns windows at random places, [batch, seq_len], and what follows each of their tokens."""
    random = rng or numpy.random
    starts = random.randint(0, len(ids) - seq_len, batch_size)
    ids = numpy.asarray(ids, dtype=numpy.uint32)
    windows = numpy.stack([ids[s:s + seq_len + 1] for s in starts])
    return windows[:, :-1], windows[:, 1:]


def prepare_data(yaml_config):
    """Returns the characters of the first nine tenths of the text of data_path as tokens, those of the
    rest, how many tokens there are in whole tiles, and a function that turns tokens into text."""
    kind = yaml_config.get("training_config", {}).get("tokenizer_type", "char")
    if kind != "char":
        raise ValueError(f"prepare_data: tokenizer_type {kind}; accepted: char; run_experiment train "
                         "knows bpe too")
    with open(TrainingConfig(yaml_config).data_path) as file:
        text = file.read()
    tokenizer = CharTokenizer(text)
    ids = numpy.array(tokenizer.encode(text), dtype=numpy.uint32)
    cut = int(0.9 * len(ids))
    return ids[:cut], ids[cut:], tiled(tokenizer.vocab_size), tokenizer.decode


build_causal_mask = causal_mask
