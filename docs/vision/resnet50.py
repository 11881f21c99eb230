# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 in the form of tt-metal's model: images/s of 16 images on one Wormhole chip.

Batch norms are folded into the convolutions, weights are random. Run it with --no-values.
"""

import ttnn
from throughput import measure, open_device

BATCH = 16
HEIGHT = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED
COMPUTE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, packer_l1_acc=True)
# Blocks, channels inside, channels, the height and width of the input, stride of the first block, sharding.
STAGES = [(3, 64, 256, 56, 1, HEIGHT), (4, 128, 512, 56, 2, HEIGHT), (6, 256, 1024, 28, 2, BLOCK),
          (3, 512, 2048, 14, 2, BLOCK)]


class Convolution:
    """A convolution with a bias. Its weights are prepared by its first call."""

    def __init__(self, device, inside, outside, kernel, stride=1, padding=0, relu=True, **config):
        self.device, self.inside, self.outside = device, inside, outside
        self.kernel, self.stride, self.padding = kernel, stride, padding
        self.weight = ttnn.rand([outside, inside, kernel, kernel], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
        self.bias = ttnn.rand([1, 1, 1, outside], dtype=ttnn.bfloat16)
        activation = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if relu else None
        self.config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b, activation=activation,
                                        enable_act_double_buffer=kernel > 1, enable_weights_double_buffer=kernel > 1,
                                        **config)

    def __call__(self, x, size):
        x, [height, width], [self.weight, self.bias] = ttnn.conv2d(
            input_tensor=x, weight_tensor=self.weight, bias_tensor=self.bias, device=self.device,
            in_channels=self.inside, out_channels=self.outside, batch_size=BATCH, input_height=size, input_width=size,
            kernel_size=(self.kernel, self.kernel), stride=(self.stride, self.stride),
            padding=(self.padding, self.padding), conv_config=self.config, compute_config=COMPUTE,
            dtype=ttnn.bfloat8_b, return_output_dim=True, return_weights_and_bias=True)
        return x, height


class Bottleneck:
    def __init__(self, device, inside, mid, outside, stride, layout, first, act_block_h=0):
        common = {"shard_layout": layout, "reshard_if_not_optimal": first}
        own = {"enable_activation_reuse": True} if layout is HEIGHT and stride == 1 else {}
        own = {"full_inner_dim": True} if layout is BLOCK else own
        self.first = Convolution(device, inside, mid, 1, **common)
        self.second = Convolution(device, mid, mid, 3, stride, 1, act_block_h_override=act_block_h, **common, **own)
        self.third = Convolution(device, mid, outside, 1, relu=False, shard_layout=layout)
        self.side = Convolution(device, inside, outside, 1, stride, relu=False, **common) if first else None

    def __call__(self, x, size):
        y, _ = self.first(x, size)
        y, inner = self.second(y, size)
        y, inner = self.third(y, inner)
        if self.side is not None:
            x, _ = self.side(x, size)
        y = ttnn.add_(y, x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)])
        ttnn.deallocate(x)
        return y, inner


class ResNet50:
    def __init__(self, device):
        self.device = device
        # The 7x7 window with stride 2 is a 4x4 window over folded images.
        self.stem = Convolution(device, 16, 64, 4, shard_layout=HEIGHT, act_block_h_override=49 * 32,
                                enable_activation_reuse=True)
        self.blocks, inside = [], 64
        for count, mid, outside, _, stride, layout in STAGES:
            for i in range(count):
                rows = 14 * 32 if outside == 256 and i > 0 else 0
                self.blocks.append(Bottleneck(device, inside, mid, outside, stride if i == 0 else 1, layout, i == 0,
                                              rows))
                inside = outside
        self.matrix = ttnn.rand([2048, 1024], device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)
        self.bias = ttnn.rand([1, 1024], device, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)

    def __call__(self, x):
        x = ttnn.fold(x, 2, 2)
        x, size = self.stem(x, 115)
        x = ttnn.max_pool2d(x, BATCH, size, size, 64, [3, 3], [2, 2], [1, 1], [1, 1], deallocate_input=True)
        # 56 cores have whole tiles of the 56 x 56 places of 16 images.
        whole = ttnn.create_sharded_memory_config([1, 1, BATCH * 56 * 56, 64], ttnn.CoreGrid(x=8, y=7),
                                                  ttnn.ShardStrategy.HEIGHT)
        x = ttnn.to_memory_config(x, whole)
        x = ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
        size = 56
        for block in self.blocks:
            x, size = block(x, size)
        rows = -(-BATCH * size * size // 32) * 32
        x = ttnn.to_memory_config(x, ttnn.create_sharded_memory_config(
            [1, 1, rows, 32], ttnn.CoreGrid(x=8, y=8), ttnn.ShardStrategy.WIDTH,
            use_height_and_width_as_shard_shape=True))
        x = ttnn.avg_pool2d(x, BATCH, size, size, 2048, [size, size], [1, 1], [0, 0], output_layout=ttnn.TILE_LAYOUT,
                            dtype=ttnn.bfloat8_b)
        x = ttnn.to_memory_config(x, ttnn.create_sharded_memory_config(
            [1, 1, 32, 64], ttnn.CoreGrid(x=8, y=4), ttnn.ShardStrategy.WIDTH,
            use_height_and_width_as_shard_shape=True))
        return ttnn.linear(
            x, self.matrix, bias=self.bias, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat16,
            compute_kernel_config=COMPUTE, program_config=ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
                compute_with_storage_grid_size=(8, 4), in0_block_w=2, out_subblock_h=1, out_subblock_w=1,
                per_core_M=1, per_core_N=1, fuse_batch=True, fused_activation=None, mcast_in0=True))


def main():
    device = open_device()
    # Images with a border of 3 and one more channel, as the fold takes them.
    images = ttnn.rand([BATCH, 230, 230, 4], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    near = ttnn.create_sharded_memory_config([1, 1, BATCH * 230 * 230, 4], ttnn.CoreGrid(x=8, y=8),
                                             ttnn.ShardStrategy.HEIGHT)
    measure("ResNet-50", device, BATCH, "image", images, near, ResNet50(device))
    ttnn.close_device(device)


main()
