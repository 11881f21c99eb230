# SPDX-License-Identifier: Apache-2.0
"""Implements what writes completions of prompts and says how likely they are."""

import abc

import numpy as np

import howard.ttnn as ttnn

from .. import ops
from .._graph import context
from ..autograd import Tensor
from ..common.utils import no_grad, round_up_to_tile
from ..models import KvCache
from ..models.llama import Llama
from ..models.qwen3 import Qwen3
from ..ops import _layers
from ._devices import BatchDevices
from ._grpo_config import require_number, tokens_of

_TILE = 32
_READ_EVERY = 32  # Steps whose tokens the host reads together, as TTML's completer does.


class GRPOCompleter(abc.ABC):
    """Is what writes the completions of prompts and says how likely they are; a script may derive
    its own. Its attribute `model` is what learns; with a `tokenizer` prompts may be texts."""

    @abc.abstractmethod
    def generate(self, prompts):
        """Returns a completion, a list of tokens, for each of the prompts, lists of tokens."""

    @abc.abstractmethod
    def generate_str(self, prompts):
        """Returns a completion, a text, for each of the prompts, texts."""

    @abc.abstractmethod
    def compute_nlog_probs(self, prompts, completions):
        """Returns minus the logarithms of the probabilities of tokens, a tensor [B, 1, T, 1], and a
        tensor or an array of that shape, which is 1 at those of the completions and 0 elsewhere."""


class CachedCompleter(GRPOCompleter):
    """Lets a Llama or a Qwen3 write with a cache of keys and values: all prompts at once, then a
    token of each at a time. A completion ends behind eos_token_id."""

    def __init__(self, model, max_completion_length, temperature=1.0, pad_token_id=None,
                 eos_token_id=None, tokenizer=None):
        inner = getattr(model, "model", model)  # that of a LoraModel
        if not isinstance(inner, (Llama, Qwen3)):
            raise TypeError(f"CachedCompleter: a {type(inner).__name__}; accepted: Llama, Qwen3, or a "
                            "GRPOCompleter of your own")
        require_number("CachedCompleter", "max_completion_length", max_completion_length, 1, whole=True)
        require_number("CachedCompleter", "temperature", temperature)
        self.model, self.max_completion_length = model, max_completion_length
        self.temperature, self.tokenizer = temperature, tokenizer
        given = {"pad_token_id": pad_token_id, "eos_token_id": eos_token_id}
        self.pad_token_id, self.eos_token_id = (
            getattr(tokenizer, name, None) if one is None else one for name, one in given.items())
        self.pad_token_id = self.pad_token_id or 0
        self._shape = inner.config
        self._cache_name = "kv_cache" if isinstance(inner, Llama) else "past_key_values"
        self._devices, self._cache, self._cache_sizes = BatchDevices(), None, None

    def generate(self, prompts):
        wrong = [prompt for prompt in prompts if not tokens_of(prompt)]
        if wrong or not len(prompts):
            raise ValueError(f"CachedCompleter: {f'the prompt {wrong[0]!r}' if wrong else 'no prompt'}; "
                             "accepted: lists of tokens, of one at least")
        longest = round_up_to_tile(max(len(prompt) for prompt in prompts))
        self._require(longest + self.max_completion_length)
        ids = np.full((len(prompts), 1, 1, longest), self.pad_token_id)
        for row, prompt in enumerate(prompts):
            ids[row, 0, 0, longest - len(prompt):] = prompt
        first = np.array([longest - len(prompt) for prompt in prompts])
        self.model.eval()
        try:
            with no_grad():
                written = self._written(ids, first)
        finally:
            self.model.train()
        return [self._ended(row) for row in written.tolist()]

    def generate_str(self, prompts):
        if self.tokenizer is None:
            raise ValueError("CachedCompleter: texts without a tokenizer; accepted: generate with lists of "
                             "tokens")
        return [self.tokenizer.decode(tokens)
                for tokens in self.generate([self.tokenizer.encode(one) for one in prompts])]

    def compute_nlog_probs(self, prompts, completions):
        """Reads each prompt and its completion, padded behind them, without a cache."""
        rows = [list(p) + list(c) for p, c in zip(prompts, completions)]
        length = round_up_to_tile(max(len(row) for row in rows) - 1)
        self._require(length)
        ids = np.full((len(rows), 1, 1, length), self.pad_token_id)
        targets, mask = np.zeros((len(rows), length)), np.zeros((len(rows), 1, length, 1))
        for i, (row, prompt) in enumerate(zip(rows, prompts)):
            ids[i, 0, 0, :len(row) - 1], targets[i, :len(row) - 1] = row[:-1], row[1:]
            mask[i, 0, len(prompt) - 1:len(row) - 1] = 1
        logits = self.model(self._devices.whole(ids))
        if self.temperature not in (0, 1):
            logits = ops.binary.mul(logits, 1.0 / self.temperature)
        losses = ops.loss.cross_entropy_loss(logits, self._devices.whole(targets), ops.ReduceType.NONE)
        return losses, mask

    def _require(self, length):
        most = self._shape.max_position_embeddings
        if length > most:
            raise ValueError(f"CachedCompleter: {length} tokens with the completion, prompts in whole "
                             f"tiles; accepted: {most}, the model's max_position_embeddings")

    def _ended(self, tokens):
        if self.eos_token_id in tokens:
            return tokens[:tokens.index(self.eos_token_id) + 1]
        return tokens

    def _written(self, ids, first):
        """Returns the tokens that follow prompts, which begin at the places `first`."""
        count, length = len(ids), ids.shape[-1]
        cache = self._emptied_cache(count // self._devices.count, length)
        places = np.arange(length)
        seen = (places >= first[:, None, None, None]) & (places <= places[:, None])
        logits = self._read(self._devices.whole(ids), seen, cache, length)
        token = self._drawn(logits, length - 1)
        pending, written = [token], []
        for step in range(1, self.max_completion_length):
            if len(pending) == _READ_EVERY:
                written.append(self._taken(pending))
                pending = []
                if self._have_ended(written):
                    break
            place = length + step - 1
            places = np.arange(round_up_to_tile(place + 1))
            seen = (places >= first[:, None, None, None]) & (places <= place)
            logits = self._read(self._padded(token), np.repeat(seen, _TILE, 2), cache, 1)
            token = self._drawn(logits, 0)
            pending.append(token)
        if pending:
            written.append(self._taken(pending))
        return np.concatenate(written, 1)

    def _emptied_cache(self, batch, length):
        shape = self._shape
        sizes = (shape.num_hidden_layers, batch, shape.num_key_value_heads,
                 length + self.max_completion_length, shape.head_dim)
        if sizes != self._cache_sizes:
            self._cache, self._cache_sizes = KvCache(*sizes), sizes
        self._cache.reset()
        return self._cache

    def _read(self, ids, seen, cache, new_tokens):
        """Returns the logits of tokens that follow what the cache has; `seen` says where they look."""
        return self.model(ids, self._devices.real(seen),
                          **{self._cache_name: cache, "new_tokens": new_tokens})

    def _drawn(self, logits, row):
        """Returns a token [B, 1, 1, 1] of each sequence, drawn from the logits of a row."""
        batch, _, _, columns = logits.shape()
        last = Tensor(ttnn.slice(logits.half(), [0, 0, row, 0], [batch, 1, row + 1, columns]), False)
        return _layers.sampled(last, self.temperature, context().next_seed(), per_device=True)

    @staticmethod
    def _padded(token):
        """Returns tokens as the first of the rows of a tile each."""
        return Tensor(ttnn.pad(token.own(), [(0, 0), (0, 0), (0, 0), (0, _TILE - 1)], 0), False)

    def _taken(self, tokens):
        return np.concatenate([self._devices.array(t).reshape(-1, 1) for t in tokens], 1).astype(int)

    def _have_ended(self, written):
        return self.eos_token_id is not None and \
            (np.concatenate(written, 1) == self.eos_token_id).any(1).all()
