# SPDX-License-Identifier: Apache-2.0
"""BERT-large in the form of tt-metal's sharded model: sentences/s of 8 sentences of 384 tokens on one Wormhole chip.

Weights are random. Run it with --no-values.
"""

import ttnn
from throughput import measure, open_device

BATCH, TOKENS, HEADS, WIDTH, LAYERS = 8, 384, 16, 1024, 24
GRID = ttnn.CoreGrid(x=8, y=8)
ROWS, COLUMNS = BATCH * TOKENS // 32 // 8, WIDTH // 32 // 8  # Tiles of a core.
COMPUTE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, packer_l1_acc=True)
BLOCK = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
HEIGHT = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
NORM = ttnn.LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(8, 8), subblock_w=4, block_h=ROWS,
                                                   block_w=COLUMNS, inplace=True)
SOFTMAX = ttnn.SoftmaxShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(8, 8), subblock_w=6, block_h=24,
                                                    block_w=12)


def product(columns, inner, subblock, activation=None):
    return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(8, 8), in0_block_w=inner, out_subblock_h=subblock[0],
        out_subblock_w=subblock[1], per_core_M=ROWS, per_core_N=columns, transpose_mcast=False,
        fused_activation=activation)


def per_head(columns, inner, subblock):
    return ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(8, 8), in0_block_w=inner, out_subblock_h=subblock[0],
        out_subblock_w=subblock[1], per_core_M=24, per_core_N=columns)


class Layer:
    def __init__(self, device):
        def tensor(*shape):
            return ttnn.rand(list(shape), device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)

        def row():
            return ttnn.rand([1, 1, 1, WIDTH], device, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)

        self.qkv, self.qkv_bias = tensor(WIDTH, 3 * WIDTH), tensor(1, 3 * WIDTH)
        self.out, self.out_bias = tensor(WIDTH, WIDTH), tensor(1, WIDTH)
        self.up, self.up_bias = tensor(WIDTH, 4 * WIDTH), tensor(1, 4 * WIDTH)
        self.down, self.down_bias = tensor(4 * WIDTH, WIDTH), tensor(1, WIDTH)
        self.norms = [(row(), row()) for _ in range(2)]

    @staticmethod
    def linear(x, weight, bias, config):
        return ttnn.linear(x, weight, bias=bias, memory_config=BLOCK, dtype=ttnn.bfloat8_b, program_config=config,
                           compute_kernel_config=COMPUTE)

    def attention(self, x, mask):
        x = self.linear(x, self.qkv, self.qkv_bias, product(12, 4, (1, 6)))
        q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(x, memory_config=HEIGHT, num_heads=HEADS)
        ttnn.deallocate(x)
        scores = ttnn.matmul(q, k, memory_config=HEIGHT, dtype=ttnn.bfloat8_b, program_config=per_head(12, 2, (1, 6)),
                             compute_kernel_config=COMPUTE)
        scores = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=64, program_config=SOFTMAX)
        x = ttnn.matmul(scores, v, memory_config=HEIGHT, dtype=ttnn.bfloat8_b, program_config=per_head(2, 12, (4, 2)),
                        compute_kernel_config=COMPUTE)
        x = ttnn.transformer.concatenate_heads(x, memory_config=BLOCK)
        return self.linear(x, self.out, self.out_bias, product(4, 4, (2, 4)))

    def norm(self, x, residual, i):
        weight, bias = self.norms[i]
        return ttnn.layer_norm(x, residual_input_tensor=residual, weight=weight, bias=bias, epsilon=1e-12,
                               memory_config=BLOCK, program_config=NORM)

    def __call__(self, x, mask):
        x = self.norm(self.attention(x, mask), x, 0)
        y = self.linear(x, self.up, self.up_bias, product(16, 4, (1, 8), ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU,
                                                                                           True)))
        y = self.linear(y, self.down, self.down_bias, product(4, 16, (2, 4)))
        return self.norm(y, x, 1)


class BertLarge:
    def __init__(self, device):
        def table(rows):
            return ttnn.rand([rows, WIDTH], device, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)

        self.words, self.types, self.places = table(30522), table(2), table(512)
        self.mask = ttnn.zeros([BATCH, 1, 32, TOKENS], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        self.type_ids = ttnn.zeros([BATCH, TOKENS], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        self.place_ids = ttnn.zeros([BATCH, TOKENS], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        self.layers = [Layer(device) for _ in range(LAYERS)]
        self.answer = ttnn.rand([WIDTH, 32], device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)

    def __call__(self, ids):
        x = ttnn.embedding(ids, self.words, layout=ttnn.TILE_LAYOUT)
        types = ttnn.embedding(self.type_ids, self.types, layout=ttnn.TILE_LAYOUT)
        places = ttnn.embedding(self.place_ids, self.places, layout=ttnn.TILE_LAYOUT)
        x = ttnn.add(ttnn.add(x, types), places, dtype=ttnn.bfloat8_b)
        x = ttnn.to_memory_config(x, ttnn.create_sharded_memory_config([BATCH * TOKENS, WIDTH], GRID,
                                                                       ttnn.ShardStrategy.BLOCK))
        weight, bias = self.layers[0].norms[0]
        x = ttnn.layer_norm(x, weight=weight, bias=bias, epsilon=1e-12, memory_config=BLOCK, program_config=NORM)
        for layer in self.layers:
            x = layer(x, self.mask)
        return ttnn.linear(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG), self.answer, dtype=ttnn.bfloat8_b)


def main():
    device = open_device()
    ids = ttnn.zeros([BATCH, TOKENS], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT)
    measure("BERT-large", device, BATCH, "sequence of 384 tokens", ids, ttnn.DRAM_MEMORY_CONFIG, BertLarge(device))
    ttnn.close_device(device)


main()
