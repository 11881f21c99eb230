# SPDX-License-Identifier: Apache-2.0
"""Bundle 10: backward ops against differences of their functions, losses, moreh, complex numbers."""

import math

import ttnn

device = ttnn.open_device(device_id=0)
POINTS = [0.11 + 0.03 * i for i in range(26)] + [0.5] * 6
STEP = 1e-3


def tensor(values):
    return ttnn.Tensor(values, [1, 32], ttnn.float32, ttnn.TILE_LAYOUT, device)


def numbers(made):
    return ttnn.reshape(ttnn.from_device(made), [made.shape.volume()]).to_list()


NAMES = """abs acos asin asinh atan cos cosh deg2rad digamma erf erfc exp exp2 expm1 gelu hardswish i0 lgamma
log log10 log1p log2 log_sigmoid neg rad2deg reciprocal relu rsqrt selu sigmoid silu sin sinh softsign sqrt square
tan tanh tanhshrink mish elu celu leaky_relu softplus""".split()
for name in NAMES:
    forward = getattr(ttnn, name)
    above = numbers(forward(tensor([p + STEP for p in POINTS])))
    below = numbers(forward(tensor([p - STEP for p in POINTS])))
    (gradient,) = getattr(ttnn, name + "_bw")(tensor([2.0] * 32), tensor(POINTS))
    for point, high, low, found in zip(POINTS, above, below, numbers(gradient)):
        expected = 2 * (high - low) / (2 * STEP)
        assert abs(found - expected) <= 0.02 * max(1, abs(expected)), (name, point, found, expected)
x, y, g = tensor(POINTS), tensor([1.7 - p for p in POINTS]), tensor([1.0] * 32)
for name in "add sub mul div hypot atan2 squared_difference xlogy logaddexp".split():
    forward = getattr(ttnn, name)
    first, second = getattr(ttnn, name + "_bw")(g, x, y)
    for moved, found in ((0, first), (1, second)):
        ends = []
        for step in (STEP, -STEP):
            parts = [POINTS, [1.7 - p for p in POINTS]]
            parts[moved] = [p + step for p in parts[moved]]
            ends.append(numbers(forward(tensor(parts[0]), tensor(parts[1]))))
        for high, low, one in zip(*ends, numbers(found)):
            expected = (high - low) / (2 * STEP)
            assert abs(one - expected) <= 0.02 * max(1, abs(expected)), (name, moved, one, expected)

a, b = tensor([1.0] * 32), tensor([3.0] * 32)
assert abs(ttnn.mse_loss(a, b, reduction=ttnn.LossReductionMode.MEAN).item() - 4) < 1e-5
assert abs(ttnn.l1_loss(a, b, reduction=ttnn.LossReductionMode.SUM).item() - 64) < 1e-4
assert abs(ttnn.moreh_sum(b).item() - 96) < 1e-4
assert abs(ttnn.operations.moreh.norm(b).item() - math.sqrt(9 * 32)) < 1e-3
p, m, v = ttnn.moreh_adamw(a, b, ttnn.zeros_like(a), ttnn.zeros_like(a), lr=0.1, weight_decay=0.0,
                        step=1)[:3]
assert abs(numbers(p)[0] - 0.9) < 1e-4 and abs(numbers(m)[0] - 0.3) < 1e-5
(p,) = ttnn.moreh_sgd(a, b, lr=0.1)
assert abs(numbers(p)[0] - 0.7) < 1e-5
left, right = ttnn.moreh_matmul_backward(ttnn.ones([32, 32], ttnn.float32, ttnn.TILE_LAYOUT, device),
                                         ttnn.ones([32, 64], ttnn.float32, ttnn.TILE_LAYOUT, device),
                                         ttnn.ones([64, 32], ttnn.float32, ttnn.TILE_LAYOUT, device))
assert left.shape == [32, 64] and numbers(right)[0] == 32
turn = ttnn.polar(ttnn.complex_tensor(b, tensor([math.pi / 2] * 32)))
assert abs(numbers(ttnn.imag(turn))[0] - 3) < 1e-5 and abs(numbers(ttnn.real(turn))[0]) < 1e-5
kept = numbers(ttnn.experimental.dropout(b, probability=0.5, scale=2.0, seed=7))
assert set(kept) == {0.0, 6.0}
image = ttnn.Tensor([float(i) for i in range(64)], [1, 1, 16, 4], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT,
                    device)
assert numbers(ttnn.max_pool2d(image, 1, 4, 4, 4, [2, 2], [2, 2], [0, 0], [1, 1]))[:4] == [20, 21, 22, 23]
weight = ttnn.ones([2, 4, 1, 1], ttnn.float32)
made = ttnn.conv2d(input_tensor=image, weight_tensor=weight, in_channels=4, out_channels=2,
                   device=device, kernel_size=(1, 1), batch_size=1, input_height=4, input_width=4)
assert numbers(made)[:4] == [6, 6, 22, 22]
ttnn.close_device(device)
