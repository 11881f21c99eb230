# SPDX-License-Identifier: Apache-2.0
"""A torch encoder whose parameters are preprocessed, run layer by layer. Needs torch."""

import math

import torch

import ttnn
from ttnn.model_preprocessing import (
    preprocess_linear_bias,
    preprocess_linear_weight,
    preprocess_model_parameters,
)

TOKENS, WIDTH, HEADS, LAYERS, BATCH, LENGTH = 100, 128, 4, 2, 2, 32


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x, mask):
        def heads(one):
            return one.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2)

        q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        shares = (q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + mask).softmax(-1)
        return (shares @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.out = Attention(), torch.nn.Linear(WIDTH, WIDTH)
        self.first, self.second = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.wide, self.narrow = torch.nn.Linear(WIDTH, 256), torch.nn.Linear(256, WIDTH)

    def forward(self, x, mask):
        x = self.first(x + self.out(self.attention(x, mask)))
        return self.second(x + self.narrow(torch.nn.functional.gelu(self.wide(x))))


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(TOKENS, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids, mask):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return x


def joined(model, name):
    if not isinstance(model, Attention):
        return {}
    parts = [model.query, model.key, model.value]
    return {"joined": {
        "weight": preprocess_linear_weight(torch.cat([p.weight for p in parts]), dtype=ttnn.bfloat16),
        "bias": preprocess_linear_bias(torch.cat([p.bias for p in parts]), dtype=ttnn.bfloat16)}}


def layer(x, mask, parameters):
    y = ttnn.linear(x, parameters.attention.joined.weight, bias=parameters.attention.joined.bias)
    q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(y, num_heads=HEADS)
    shares = ttnn.transformer.attention_softmax(ttnn.matmul(q, k), attention_mask=mask,
                                                head_size=WIDTH // HEADS)
    y = ttnn.transformer.concatenate_heads(ttnn.matmul(shares, v))
    y = ttnn.linear(y, parameters.out.weight, bias=parameters.out.bias)
    x = ttnn.layer_norm(y, residual_input_tensor=x, weight=parameters.first.weight,
                        bias=parameters.first.bias, epsilon=1e-5)
    y = ttnn.linear(x, parameters.wide.weight, bias=parameters.wide.bias, activation="gelu",
                    core_grid=x.device().core_grid)
    y = ttnn.linear(y, parameters.narrow.weight, bias=parameters.narrow.bias)
    return ttnn.layer_norm(x + y, weight=parameters.second.weight, bias=parameters.second.bias,
                           epsilon=1e-5)


torch.manual_seed(0)
model = Encoder().eval()
ids, mask = torch.randint(0, TOKENS, (BATCH, LENGTH)), torch.zeros(BATCH, 1, 1, LENGTH)
mask[1, ..., 20:] = -1e4
expected = model(ids, mask).detach()
with ttnn.manage_device(device_id=0) as device:
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, convert_to_ttnn=lambda *_: True,
        custom_preprocessor=joined, device=device)
    ids_ = ttnn.from_torch(ids, dtype=ttnn.uint32, device=device)
    mask_ = ttnn.from_torch(mask, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    x = ttnn.embedding(ids_, parameters.words.weight, layout=ttnn.TILE_LAYOUT)
    for one in parameters.layers:
        x = layer(x, mask_, one)
    close = ttnn.pearson_correlation_coefficient(expected, ttnn.to_torch(x).float())
    assert close > 0.999, close
