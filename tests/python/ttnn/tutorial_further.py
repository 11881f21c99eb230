# SPDX-License-Identifier: Apache-2.0
"""Ops of few models against torch: images, quantised numbers, moreh's, Mamba's. Needs torch."""

import torch

import ttnn

torch.manual_seed(0)
device = ttnn.open_device(device_id=0, l1_small_size=16384)
ROWS = ttnn.ROW_MAJOR_LAYOUT


def on_device(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return ttnn.from_torch(tensor, dtype=dtype, layout=layout, device=device)


def check(made, expected, tolerance=2e-2):
    made = ttnn.to_torch(made).float()
    assert made.shape == expected.shape, (made.shape, expected.shape)
    assert torch.allclose(made, expected.float(), atol=tolerance, rtol=tolerance), (
        made - expected).abs().max()


x = torch.randn(2, 32, 8, 64)
x_ = on_device(x)
made, _, _ = ttnn.operations.moreh.group_norm(
    x_, 4, 1e-5, gamma=on_device(torch.ones(1, 1, 1, 32)), beta=on_device(torch.zeros(1, 1, 1, 32)))
check(made, torch.nn.functional.group_norm(x, 4))
logs, targets = torch.log_softmax(torch.randn(8, 10), -1), torch.randint(0, 10, (8,))
targets[3] = -100
made = ttnn.operations.moreh.nll_loss(on_device(logs), on_device(targets, ttnn.int32, ROWS), "mean",
                                       divisor_tensor=on_device(torch.zeros(1)))
check(made, torch.nn.functional.nll_loss(logs, targets).reshape(1))
index = on_device(torch.tensor([1, 0, 1]), ttnn.int32, ROWS)
check(ttnn.operations.moreh.getitem(x_, [index], [0]), x[[1, 0, 1]])
check(ttnn.dequantize(ttnn.quantize(x_, 0.1, 3), 0.1, 3), torch.round(x.bfloat16().float() * 10) / 10,
      0.11)

image = torch.randn(1, 4, 6, 8)
folded = image.reshape(1, 2, 2, 3, 2, 8).permute(0, 1, 3, 2, 4, 5).reshape(1, 2, 3, 32)
check(ttnn.fold(on_device(image, layout=ROWS), 2, 2), folded)
count, places = ttnn.nonzero(on_device(torch.tensor([[[[0.0, 1, 0, 2]]]]), layout=ROWS))
assert ttnn.to_torch(count).item() == 2 and ttnn.to_torch(places).flatten().tolist()[:2] == [1, 3]
pooled = ttnn.adaptive_avg_pool2d(on_device(torch.ones(1, 1, 49, 32), layout=ROWS), 1, 7, 7, 32, 1)
check(pooled, torch.ones(1, 1, 1, 32))

config, grid = ttnn.determine_expected_group_norm_sharded_config_and_grid_size(
    device=device, num_channels=64, num_groups=8, input_nhw=256, is_height_sharded=False)
gamma, beta, flat = torch.rand(64), torch.rand(64), torch.randn(1, 1, 256, 64)
rows = [ttnn.create_group_norm_weight_bias_rm(one, 64, grid.y) for one in (gamma, beta)]
mask = ttnn.to_device(ttnn.create_group_norm_input_mask(64, 8, grid.y, ttnn.bfloat8_b), device)
made = ttnn.group_norm(ttnn.to_memory_config(on_device(flat), config), num_groups=8, input_mask=mask,
                       weight=on_device(rows[0], layout=ROWS), bias=on_device(rows[1], layout=ROWS),
                       epsilon=1e-5, memory_config=config, core_grid=grid, inplace=False)
expected = torch.nn.functional.group_norm(flat.reshape(1, 256, 64).transpose(1, 2), 8, gamma, beta)
check(made, expected.transpose(1, 2).reshape(1, 1, 256, 64), 5e-2)

five = torch.randn(2, 3, 4, 32, 32)
check(ttnn.permute(on_device(five), (0, 2, 1, 3, 4)), five.permute(0, 2, 1, 3, 4))
check(ttnn.permute(on_device(five), (4, 3, 2, 1, 0)), five.permute(4, 3, 2, 1, 0))
check(x_[:, 3:9, 1:5, ::2], x[:, 3:9, 1:5, ::2])
check(ttnn.concat([x_, x_], dim=2), torch.cat([x, x], 2))
check(ttnn.pad(x_, ((0, 0), (1, 0), (3, 2), (0, 0)), 1.0),
      torch.nn.functional.pad(x, (0, 0, 3, 2, 1, 0), value=1.0))
check(ttnn.repeat_interleave(x_, 2, dim=3), x.repeat_interleave(2, 3))

product = ttnn.experimental.minimal_matmul(
    on_device(torch.ones(1, 1, 64, 256)), on_device(torch.full((256, 128), 0.01)),
    bias_tensor=on_device(torch.ones(1, 128)), fused_activation=(ttnn.UnaryOpType.RELU, False))
check(product, torch.full((1, 1, 64, 128), 3.56))
chain = [ttnn.UnaryWithParam(ttnn.UnaryOpType.NEG), ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)]
check(ttnn.unary_chain(x_, chain), torch.relu(-x))
check(ttnn.add(x_, x_, activations=["relu"], input_tensor_a_activations=[ttnn.UnaryOpType.SILU]),
      torch.relu(torch.nn.functional.silu(x) + x))
check(ttnn.mse_loss(x_, on_device(torch.zeros_like(x)), reduction=ttnn.LossReductionMode.MEAN),
      x.pow(2).mean(), 5e-2)

narrow, wide = torch.randn(1, 1, 32, 32), torch.randn(1, 1, 32, 64)
made = ttnn.experimental.repeat_and_interleave_eltwise_mul(on_device(narrow), on_device(wide))
check(made, narrow.repeat(1, 1, 1, 64) * wide.repeat_interleave(32, -1), 5e-2)
made = ttnn.experimental.prefix_scan(on_device(torch.full((1, 1, 3, 32), 0.5)),
                                     on_device(torch.ones(1, 1, 3, 32)),
                                     on_device(torch.zeros(1, 1, 1, 32)))
assert ttnn.to_torch(made)[0, 0, :, 0].tolist() == [1.0, 1.5, 1.75]
users, values = torch.randn(1, 8, 32, 64), torch.randn(32, 2, 64, 128)
expected = users.permute(2, 1, 0, 3) @ values.repeat_interleave(4, 1)
made = ttnn.experimental.group_attn_matmul(on_device(users), on_device(values))
assert ttnn.pearson_correlation_coefficient(
    expected.permute(2, 1, 0, 3), ttnn.to_torch(made).float()) > 0.999
drawn = ttnn.to_torch(ttnn.randn((64, 64), device)).float()
assert abs(drawn.mean()) < 0.1 and 0.9 < drawn.std() < 1.1
ttnn.close_device(device)
