# SPDX-License-Identifier: Apache-2.0
"""ViT-base/16 in the form of tt-metal's sharded model: images/s of 8 images on one Wormhole chip.

Weights are random. Run it with --no-values.
"""

import ttnn
from throughput import measure, open_device

BATCH, TOKENS, PADDED, HEADS, WIDTH, LAYERS = 8, 197, 224, 12, 768, 12
GRID = ttnn.CoreGrid(x=8, y=8)
ROWS = BATCH * PADDED // 32 // 8  # Tiles of a core.
COMPUTE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, packer_l1_acc=True)
NORM = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2)


def product(columns, inner, subblock, activation=None):
    return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(8, 8), in0_block_w=inner, out_subblock_h=subblock[0],
        out_subblock_w=subblock[1], per_core_M=ROWS, per_core_N=columns, transpose_mcast=False,
        fused_activation=activation)


def per_head(columns, inner, rows, subblock):
    return ttnn.MatmulMultiCoreReuseProgramConfig(
        compute_with_storage_grid_size=(8, 6), in0_block_w=inner, out_subblock_h=subblock[0],
        out_subblock_w=subblock[1], per_core_M=rows, per_core_N=columns)


NORM_CONFIG = ttnn.LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(8, 8), subblock_w=3,
                                                          block_h=ROWS, block_w=3, inplace=False)
SOFTMAX_CONFIG = ttnn.SoftmaxShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(8, 6), subblock_w=7,
                                                           block_h=14, block_w=7)
GELU = ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, True)
BLOCK = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
HEIGHT = ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG


def sharded(rows, columns, grid, strategy=ttnn.ShardStrategy.BLOCK):
    return ttnn.create_sharded_memory_config([1, rows, columns], grid, strategy)


class Layer:
    def __init__(self, device):
        def tensor(*shape):
            return ttnn.rand(list(shape), device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)

        def row(width):
            return ttnn.rand([1, 1, 1, width], device, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)

        self.qkv, self.qkv_bias = tensor(WIDTH, 3 * WIDTH), tensor(1, 3 * WIDTH)
        self.out, self.out_bias = tensor(WIDTH, WIDTH), tensor(1, WIDTH)
        self.up, self.up_bias = tensor(WIDTH, 4 * WIDTH), tensor(1, 4 * WIDTH)
        self.down, self.down_bias = tensor(4 * WIDTH, WIDTH), tensor(1, WIDTH)
        self.norms = [(row(WIDTH), row(WIDTH)) for _ in range(2)]

    def attention(self, x):
        x = ttnn.linear(x, self.qkv, bias=self.qkv_bias, memory_config=BLOCK, dtype=ttnn.bfloat8_b,
                        program_config=product(9, 3, (1, 3)), compute_kernel_config=COMPUTE)
        # Six columns of cores have two heads each, with their queries, keys and values.
        x = ttnn.to_memory_config(x, sharded(BATCH * PADDED, 3 * WIDTH, ttnn.CoreGrid(x=6, y=8)))
        q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(x, memory_config=HEIGHT, num_heads=HEADS)
        ttnn.deallocate(x)
        scores = ttnn.matmul(q, k, memory_config=HEIGHT, dtype=ttnn.bfloat8_b,
                             program_config=per_head(7, 2, 14, (1, 7)),
                             compute_kernel_config=COMPUTE)
        scores = ttnn.mul_(scores, 0.125)
        scores = ttnn.softmax_in_place(scores, program_config=SOFTMAX_CONFIG)
        x = ttnn.matmul(scores, v, memory_config=HEIGHT, dtype=ttnn.bfloat8_b,
                        program_config=per_head(2, 7, 14, (7, 1)),
                        compute_kernel_config=COMPUTE)
        x = ttnn.transformer.concatenate_heads(x, memory_config=sharded(BATCH * PADDED, WIDTH, ttnn.CoreGrid(x=6, y=8)))
        x = ttnn.to_memory_config(x, sharded(BATCH * PADDED, WIDTH, GRID))
        return ttnn.linear(x, self.out, bias=self.out_bias, memory_config=BLOCK, dtype=ttnn.bfloat8_b,
                           program_config=product(3, 3, (1, 3)), compute_kernel_config=COMPUTE)

    def norm(self, x, i):
        weight, bias = self.norms[i]
        return ttnn.layer_norm(x, weight=weight, bias=bias, epsilon=1e-12, memory_config=BLOCK,
                               program_config=NORM_CONFIG, compute_kernel_config=NORM)

    def __call__(self, x):
        y = self.attention(self.norm(x, 0))
        x = ttnn.add(y, x, memory_config=BLOCK, dtype=ttnn.bfloat8_b)
        y = self.norm(x, 1)
        y = ttnn.linear(y, self.up, bias=self.up_bias, memory_config=BLOCK, dtype=ttnn.bfloat8_b,
                        program_config=product(12, 3, (1, 6), GELU), compute_kernel_config=COMPUTE)
        y = ttnn.linear(y, self.down, bias=self.down_bias, memory_config=BLOCK, dtype=ttnn.bfloat8_b,
                        program_config=product(3, 12, (1, 3)), compute_kernel_config=COMPUTE)
        return ttnn.add(y, x, memory_config=BLOCK, dtype=ttnn.bfloat8_b)


class Vit:
    def __init__(self, device):
        def tensor(*shape):
            return ttnn.rand(list(shape), device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)

        self.patches, self.patch_bias = tensor(4 * 16 * 16, WIDTH), tensor(1, WIDTH)
        self.token = ttnn.rand([BATCH, 1, WIDTH], device, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
        self.places = ttnn.rand([BATCH, TOKENS, WIDTH], device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)
        self.layers = [Layer(device) for _ in range(LAYERS)]
        self.classifier, self.classifier_bias = tensor(WIDTH, 1152), tensor(1, 1152)

    def embed(self, x):
        x = ttnn.fold(x, 16, 1)
        x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
        x = ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
        x = ttnn.linear(x, self.patches, bias=self.patch_bias, memory_config=ttnn.L1_MEMORY_CONFIG,
                        dtype=ttnn.bfloat16, core_grid=ttnn.CoreGrid(x=6, y=8))
        x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.reshape(x, (BATCH, 196, WIDTH))
        x = ttnn.concat([self.token, x], 1, memory_config=ttnn.L1_MEMORY_CONFIG)
        x = ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
        return ttnn.add(x, self.places, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b)

    def __call__(self, x):
        x = ttnn.to_memory_config(self.embed(x), sharded(BATCH * PADDED, WIDTH, GRID))
        for layer in self.layers:
            x = layer(x)
        x = self.layers[0].norm(x, 0)
        return ttnn.linear(x, self.classifier, bias=self.classifier_bias, memory_config=BLOCK, dtype=ttnn.bfloat8_b,
                           program_config=product(5, 3, (1, 5)), compute_kernel_config=COMPUTE)


def main():
    device = open_device()
    # A patch is 16 rows of 16 x 4 numbers.
    images = ttnn.rand([BATCH, 224, 14, 64], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    near = sharded(BATCH * 224 * 14, 64, GRID, ttnn.ShardStrategy.HEIGHT)
    measure("ViT-base", device, BATCH, "image", images, near, Vit(device))
    ttnn.close_device(device)


main()
