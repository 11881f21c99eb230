# SPDX-License-Identifier: Apache-2.0
"""BERT in the form of tt-metal's sharded models: its layers on 8x8 cores, each row of which has a sequence of a batch of 8."""

from dataclasses import dataclass

import ttnn
from throughput import measure, open_device

GRID = ttnn.CoreGrid(x=8, y=8)
COMPUTE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, packer_l1_acc=True)
BLOCK = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
HEIGHT = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG


@dataclass(frozen=True)
class Sizes:
    """What an encoder consists of, and what follows of it for a core, in tiles."""
    layers: int
    width: int
    heads: int
    words: int  # Rows of the table of tokens.
    batch: int = 8
    tokens: int = 384

    @property
    def rows(self):
        return self.batch * self.tokens // 32 // 8

    @property
    def columns(self):
        return self.width // 32 // 8

    @property
    def head_columns(self):
        """Columns of cores that divide the heads."""
        return 8 if self.heads % 8 == 0 else 6

    @property
    def attended(self):
        return self.tokens // 32

    @property
    def attending(self):
        """Rows of scores of a core."""
        return self.heads // self.head_columns * self.attended


def most(number, limit):
    """Returns the largest divisor that is at most `limit`."""
    return max(d for d in range(1, limit + 1) if number % d == 0)


class Layer:
    def __init__(self, device, sizes):
        self.sizes = sizes
        width = sizes.width

        def tensor(*shape):
            return ttnn.rand(list(shape), device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)

        def row():
            return ttnn.rand([1, 1, 1, width], device, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)

        self.qkv, self.qkv_bias = tensor(width, 3 * width), tensor(1, 3 * width)
        self.out, self.out_bias = tensor(width, width), tensor(1, width)
        self.up, self.up_bias = tensor(width, 4 * width), tensor(1, 4 * width)
        self.down, self.down_bias = tensor(4 * width, width), tensor(1, width)
        self.norms = [(row(), row()) for _ in range(2)]

    def product(self, columns, inner, subblock, activation=None):
        return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(8, 8), in0_block_w=inner, out_subblock_h=subblock[0],
            out_subblock_w=subblock[1], per_core_M=self.sizes.rows, per_core_N=columns, transpose_mcast=False,
            fused_activation=activation)

    def per_head(self, columns, inner, subblock):
        return ttnn.MatmulMultiCoreReuseProgramConfig(
            compute_with_storage_grid_size=(self.sizes.head_columns, 8), in0_block_w=inner,
            out_subblock_h=subblock[0], out_subblock_w=subblock[1], per_core_M=self.sizes.attending,
            per_core_N=columns)

    @staticmethod
    def linear(x, weight, bias, config):
        return ttnn.linear(x, weight, bias=bias, memory_config=BLOCK, dtype=ttnn.bfloat8_b, program_config=config,
                           compute_kernel_config=COMPUTE)

    def on_head_columns(self, x, columns):
        """Moves a tensor to the columns of cores that divide the heads, if these are not all."""
        sizes = self.sizes
        if sizes.head_columns == 8:
            return x
        return ttnn.to_memory_config(x, ttnn.create_sharded_memory_config(
            [1, sizes.batch * sizes.tokens, columns], ttnn.CoreGrid(x=sizes.head_columns, y=8),
            ttnn.ShardStrategy.BLOCK))

    def attention(self, x, mask):
        sizes, n = self.sizes, self.sizes.columns
        x = self.linear(x, self.qkv, self.qkv_bias, self.product(3 * n, n, (1, most(3 * n, 6))))
        x = self.on_head_columns(x, 3 * sizes.width)
        q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(x, memory_config=HEIGHT,
                                                                         num_heads=sizes.heads)
        ttnn.deallocate(x)
        scores = ttnn.matmul(q, k, memory_config=HEIGHT, dtype=ttnn.bfloat8_b,
                             program_config=self.per_head(sizes.attended, 2, (1, 6)), compute_kernel_config=COMPUTE)
        softmax = ttnn.SoftmaxShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(sizes.head_columns, 8), subblock_w=6, block_h=sizes.attending,
            block_w=sizes.attended)
        scores = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=64,
                                                     program_config=softmax)
        x = ttnn.matmul(scores, v, memory_config=HEIGHT, dtype=ttnn.bfloat8_b,
                        program_config=self.per_head(2, sizes.attended, (4, 2)), compute_kernel_config=COMPUTE)
        if sizes.head_columns == 8:
            x = ttnn.transformer.concatenate_heads(x, memory_config=BLOCK)
        else:
            x = ttnn.transformer.concatenate_heads(x, memory_config=ttnn.create_sharded_memory_config(
                [1, sizes.batch * sizes.tokens, sizes.width], ttnn.CoreGrid(x=sizes.head_columns, y=8),
                ttnn.ShardStrategy.BLOCK))
            x = ttnn.to_memory_config(x, ttnn.create_sharded_memory_config(
                [1, sizes.batch * sizes.tokens, sizes.width], GRID, ttnn.ShardStrategy.BLOCK))
        return self.linear(x, self.out, self.out_bias, self.product(n, n, (2, n)))

    def norm(self, x, residual, i):
        weight, bias = self.norms[i]
        return ttnn.layer_norm(x, residual_input_tensor=residual, weight=weight, bias=bias, epsilon=1e-12,
                               memory_config=BLOCK, program_config=norm_config(self.sizes))

    def __call__(self, x, mask):
        n = self.sizes.columns
        x = self.norm(self.attention(x, mask), x, 0)
        y = self.linear(x, self.up, self.up_bias,
                        self.product(4 * n, n, (1, most(4 * n, 8)), ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, True)))
        y = self.linear(y, self.down, self.down_bias, self.product(n, 4 * n, (2, n)))
        return self.norm(y, x, 1)


def norm_config(sizes):
    return ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=(8, 8), subblock_w=sizes.columns, block_h=sizes.rows, block_w=sizes.columns,
        inplace=True)


class Encoder:
    """Embeddings, a norm and the layers; `head` makes the answer of the last one's rows."""

    def __init__(self, device, sizes, head):
        def table(rows):
            return ttnn.rand([rows, sizes.width], device, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)

        def ids():
            return ttnn.zeros([sizes.batch, sizes.tokens], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT,
                              device=device)

        self.sizes = sizes
        self.words, self.types, self.places = table(sizes.words), table(2), table(512)
        self.mask = ttnn.zeros([sizes.batch, 1, 32, sizes.tokens], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT,
                               device=device)
        self.type_ids, self.place_ids = ids(), ids()
        self.layers = [Layer(device, sizes) for _ in range(sizes.layers)]
        self.head = head(device, sizes)

    def __call__(self, ids):
        sizes = self.sizes
        x = ttnn.embedding(ids, self.words, layout=ttnn.TILE_LAYOUT)
        types = ttnn.embedding(self.type_ids, self.types, layout=ttnn.TILE_LAYOUT)
        places = ttnn.embedding(self.place_ids, self.places, layout=ttnn.TILE_LAYOUT)
        x = ttnn.add(ttnn.add(x, types), places, dtype=ttnn.bfloat8_b)
        x = ttnn.to_memory_config(x, ttnn.create_sharded_memory_config([sizes.batch * sizes.tokens, sizes.width], GRID,
                                                                       ttnn.ShardStrategy.BLOCK))
        weight, bias = self.layers[0].norms[0]
        x = ttnn.layer_norm(x, weight=weight, bias=bias, epsilon=1e-12, memory_config=BLOCK,
                            program_config=norm_config(sizes))
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.head(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG))


class Answers:
    """The places of an answer: a product for each token."""

    def __init__(self, device, sizes):
        self.weight = ttnn.rand([sizes.width, 32], device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)

    def __call__(self, x):
        return ttnn.linear(x, self.weight, dtype=ttnn.bfloat8_b)


class Mean:
    """The mean of the tokens of a sequence, those that count: its embedding."""

    def __init__(self, device, sizes):
        self.sizes = sizes
        self.counts = ttnn.zeros([sizes.batch, 1, sizes.tokens, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT,
                                 device=device)

    def __call__(self, x):
        sizes = self.sizes
        x = ttnn.reshape(x, (sizes.batch, 1, sizes.tokens, sizes.width))
        x = ttnn.matmul(ttnn.transpose(self.counts, -2, -1), x, dtype=ttnn.bfloat16)
        return ttnn.multiply(x, 1 / sizes.tokens)


def measure_encoder(name, sizes, head):
    device = open_device()
    ids = ttnn.zeros([sizes.batch, sizes.tokens], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT)
    measure(name, device, sizes.batch, f"sequence of {sizes.tokens} tokens", ids, ttnn.DRAM_MEMORY_CONFIG,
            Encoder(device, sizes, head))
    ttnn.close_device(device)
