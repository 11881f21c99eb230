# SPDX-License-Identifier: Apache-2.0
"""VGG19-UNet in the form of tt-metal's model: frames/s of one image of 256 x 256 on one Wormhole chip.

Batch norms are folded into the convolutions, weights are random. Run it with --no-values.
"""

import ttnn
from throughput import measure, open_device

SIZE = 256
HEIGHT = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED
COMPUTE = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, packer_l1_acc=False)
# Convolutions of a level, and their channels. The images of a level have half the side of those above.
LEVELS = [(2, 64), (2, 128), (4, 256), (4, 512), (4, 512)]


class Convolution:
    """A convolution with a bias. Its weights are prepared by its first call."""

    def __init__(self, device, inside, outside, size, kernel=3, relu=True, keeps=False):
        self.device, self.inside, self.outside, self.size, self.kernel = device, inside, outside, size, kernel
        self.weight = ttnn.rand([outside, inside, kernel, kernel], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
        self.bias = ttnn.rand([1, 1, 1, outside], dtype=ttnn.bfloat16)
        self.config = ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat8_b, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if relu else None,
            shard_layout=HEIGHT if size >= 64 else BLOCK, deallocate_activation=not keeps, reshard_if_not_optimal=True,
            enable_act_double_buffer=True, enable_weights_double_buffer=True)

    def __call__(self, x):
        x, [self.weight, self.bias] = ttnn.conv2d(
            input_tensor=x, weight_tensor=self.weight, bias_tensor=self.bias, device=self.device,
            in_channels=self.inside, out_channels=self.outside, batch_size=1, input_height=self.size,
            input_width=self.size, kernel_size=(self.kernel, self.kernel), stride=(1, 1),
            padding=(self.kernel // 2, self.kernel // 2), conv_config=self.config, compute_config=COMPUTE,
            dtype=ttnn.bfloat16, return_weights_and_bias=True)
        return x


class Enlargement:
    """A transposed convolution, which doubles the sides of an image."""

    def __init__(self, device, inside, outside, size):
        self.device, self.inside, self.outside, self.size = device, inside, outside, size
        self.weight = ttnn.rand([inside, outside, 2, 2], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
        self.bias = ttnn.rand([1, 1, 1, outside], dtype=ttnn.bfloat16)
        self.config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat8_b, shard_layout=HEIGHT if size >= 64 else BLOCK,
                                        deallocate_activation=True, reshard_if_not_optimal=True)

    def __call__(self, x):
        x, [self.weight, self.bias] = ttnn.conv_transpose2d(
            input_tensor=x, weight_tensor=self.weight, bias_tensor=self.bias, device=self.device,
            in_channels=self.inside, out_channels=self.outside, batch_size=1, input_height=self.size,
            input_width=self.size, kernel_size=(2, 2), stride=(2, 2), padding=(0, 0), conv_config=self.config,
            compute_config=COMPUTE, dtype=ttnn.bfloat16, return_weights_and_bias=True)
        return x


class Up:
    """Enlarges an image, puts that of the way down beside it, and convolves both."""

    def __init__(self, device, inside, skipped, outside, size):
        self.enlarge = Enlargement(device, inside, outside, size)
        self.first = Convolution(device, outside + skipped, outside, 2 * size)
        self.second = Convolution(device, outside, outside, 2 * size)

    def __call__(self, x, skipped):
        x = ttnn.sharded_to_interleaved(self.enlarge(x), ttnn.L1_MEMORY_CONFIG)
        beside = ttnn.sharded_to_interleaved(skipped, ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(skipped)
        both = ttnn.concat([x, beside], 3, memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(x)
        ttnn.deallocate(beside)
        return self.second(self.first(both))


class VggUnet:
    def __init__(self, device):
        self.down, inside, size = [], 16, SIZE
        for count, channels in LEVELS:
            # The images that a pass is given are there for the next one.
            self.down.append([Convolution(device, inside if i == 0 else channels, channels, size,
                                          keeps=size == SIZE and i == 0) for i in range(count)])
            inside, size = channels, size // 2
        self.up, size = [], SIZE // 16
        for _, channels in reversed(LEVELS[:-1]):
            self.up.append(Up(device, inside, channels, channels, size))
            inside, size = channels, 2 * size
        self.mask = Convolution(device, inside, 1, SIZE, kernel=1, relu=False)

    def __call__(self, x):
        skipped, size = [], SIZE
        for level, convolutions in enumerate(self.down):
            if level > 0:
                channels = LEVELS[level - 1][1]
                x = ttnn.max_pool2d(x, 1, size, size, channels, [2, 2], [2, 2], [0, 0], [1, 1])
                x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
                size //= 2
            for convolution in convolutions:
                x = convolution(x)
            skipped.append(x)
        skipped.pop()
        for up in self.up:
            x = up(x, skipped.pop())
        return ttnn.sigmoid_accurate(self.mask(x))


def main():
    device = open_device()
    # Three channels, padded to 16.
    image = ttnn.rand([1, 1, SIZE * SIZE, 16], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    near = ttnn.create_sharded_memory_config([1, 1, SIZE * SIZE, 16], ttnn.CoreGrid(x=8, y=8),
                                             ttnn.ShardStrategy.HEIGHT)
    measure("VGG-UNet", device, 1, "image", image, near, VggUnet(device), reads=True)
    ttnn.close_device(device)


main()
