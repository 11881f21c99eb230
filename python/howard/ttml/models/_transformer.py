# SPDX-License-Identifier: Apache-2.0
"""Has what TTML's GPT-2 and Llama have in common: initial values, and weights from files."""

import json

import numpy

from howard import _native
from howard.ttnn import DataType

from .._graph import context
from ..autograd import Tensor
from ..modules import AbstractModuleBase


class Transformer(AbstractModuleBase):
    """A language model. `settings` is its transformer_config, as a dict, and `native_name` gives the
    name that Howard's own model has for a parameter."""

    def draw_values(self):
        """Draws TTML's initial values: a normal distribution of 0.02 for weights, 0 for biases."""
        random = context().random
        for name, tensor in self.parameters().items():
            if name.endswith("weight"):
                self._write(tensor, random.normal(0, 0.02, tensor.shape()))
            elif name.endswith("bias"):
                self._write(tensor, numpy.zeros(tensor.shape()))

    @staticmethod
    def _write(tensor, values):
        tensor.set_value(Tensor.from_numpy(numpy.asarray(values, numpy.float32),
                                           new_type=DataType.BFLOAT16))

    def native_name(self, name):
        raise NotImplementedError

    def settings(self):
        raise NotImplementedError

    def load_from_safetensors(self, path):
        """Takes the values of all *.safetensors of a folder, under the names of Hugging Face's
        library. Raises RuntimeError for a file that is damaged or of another model, and for a
        parameter that no file has."""
        tensors = {self.native_name(name): tensor for name, tensor in self.parameters().items()}
        shapes = [(name, *tensor.shape()[2:]) for name, tensor in tensors.items()]
        config = json.dumps({"transformer_config": self.settings()})
        values, _, unfilled = _native._ttml.read_weights(str(path), config, shapes)
        if unfilled:
            raise RuntimeError(f"load_from_safetensors: no file of {path} has {unfilled[0]}"
                               + (f" and {len(unfilled) - 1} others" if len(unfilled) > 1 else ""))
        for name, rows in values.items():
            tensor = tensors[name]
            whole = tensor.to_numpy().reshape(tensor.shape()[2:]).copy()
            whole[:len(rows)] = rows
            self._write(tensor, whole.reshape(tensor.shape()))


def checked_settings(transformer_config):
    """Returns all settings of a transformer_config, defaults included. Raises RuntimeError for a
    key that TTML does not have and for sizes that do not fit."""
    found = _native._ttml.model_settings(json.dumps({"transformer_config": transformer_config}))
    return {key: json.loads(value) for key, value in found.items()}


def causal_mask(rows, first=0, places=None):
    """Returns [1, 1, rows, places]: 1 where a place may look, which is up to itself. The rows are
    the places from `first` on; without more arguments they are all places."""
    return numpy.tril(numpy.ones((1, 1, rows, places or rows), dtype=numpy.float32), first)
