# SPDX-License-Identifier: Apache-2.0
"""A small network of convolutions, a transposed one, pools and linear layers. Needs torch."""

import torch
import torch.nn.functional as F

import ttnn

torch.manual_seed(0)
device = ttnn.open_device(device_id=0, l1_small_size=16384)
weights = {"first": torch.randn(16, 3, 3, 3) * 0.2, "second": torch.randn(32, 16, 3, 3) * 0.1,
           "up": torch.randn(32, 8, 2, 2) * 0.1, "linear": torch.randn(8 * 16 * 16, 10) * 0.02}
biases = {"first": torch.randn(16) * 0.1, "second": torch.randn(32) * 0.1}
image = torch.rand(2, 3, 32, 32)


def stage(x, shape, name):
    batch, height, width, channels = shape
    weight = weights[name]
    config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, output_layout=ttnn.TILE_LAYOUT,
                               activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
                               shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)
    compute = ttnn.init_device_compute_kernel_config(
        device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, packer_l1_acc=True)
    x, [height, width], [weight_, bias_] = ttnn.conv2d(
        input_tensor=x, weight_tensor=ttnn.from_torch(weight, dtype=ttnn.bfloat16),
        bias_tensor=ttnn.from_torch(biases[name].view(1, 1, 1, -1), dtype=ttnn.bfloat16),
        device=device, in_channels=channels, out_channels=weight.shape[0], batch_size=batch,
        input_height=height, input_width=width, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1),
        conv_config=config, compute_config=compute, return_output_dim=True,
        return_weights_and_bias=True, dtype=ttnn.bfloat16)
    assert weight_.device() is device and bias_.device() is device
    x = ttnn.max_pool2d(input_tensor=x, batch_size=batch, input_h=height, input_w=width,
                        channels=weight.shape[0], kernel_size=[2, 2], stride=[2, 2],
                        padding=[0, 0], dilation=[1, 1])
    return x, (batch, height // 2, width // 2, weight.shape[0])


flat = image.permute(0, 2, 3, 1).reshape(1, 1, 2 * 32 * 32, 3)
x = ttnn.from_torch(flat, dtype=ttnn.bfloat16, device=device)
x, shape = stage(x, (2, 32, 32, 3), "first")
x, shape = stage(x, shape, "second")
x, (height, width) = ttnn.conv_transpose2d(
    input_tensor=x, weight_tensor=ttnn.from_torch(weights["up"], dtype=ttnn.bfloat16), device=device,
    in_channels=32, out_channels=8, kernel_size=(2, 2), stride=(2, 2), batch_size=2, input_height=8,
    input_width=8, return_output_dim=True)
x = ttnn.reshape(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), (2, height, width, 8))
x = ttnn.reshape(ttnn.permute(x, (0, 3, 1, 2)), (2, -1))
matrix = ttnn.from_torch(weights["linear"], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT,
                         device=device)
logits = ttnn.to_torch(ttnn.linear(ttnn.to_layout(x, ttnn.TILE_LAYOUT), matrix))

y = F.max_pool2d(F.relu(F.conv2d(image, weights["first"], biases["first"], padding=1)), 2)
y = F.max_pool2d(F.relu(F.conv2d(y, weights["second"], biases["second"], padding=1)), 2)
y = F.conv_transpose2d(y, weights["up"], stride=2).reshape(2, -1) @ weights["linear"]
assert torch.allclose(logits.float(), y, atol=0.05), (logits - y).abs().max()
ttnn.close_device(device)
