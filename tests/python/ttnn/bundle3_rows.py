# SPDX-License-Identifier: Apache-2.0
"""Bundle 3: reductions, softmax, normalisations, look-ups, orders."""

import math

import ttnn

device = ttnn.open_device(device_id=0)
R, C = 64, 96
values = [((i * 29) % 83 - 41) / 16 for i in range(R * C)]
x = ttnn.Tensor(values, [R, C], ttnn.float32, ttnn.TILE_LAYOUT, device)


def numbers(tensor):
    return ttnn.reshape(ttnn.from_device(tensor), [tensor.shape.volume()]).to_list()


def close(found, want, tolerance=1e-3):
    assert len(found) == len(want), (len(found), len(want))
    for a, b in zip(found, want):
        assert abs(a - b) <= tolerance * max(1, abs(b)), (a, b)


rows = [values[r * C:(r + 1) * C] for r in range(R)]
columns = [values[c::C] for c in range(C)]
close(numbers(ttnn.sum(x, dim=-1)), [sum(row) for row in rows])
assert ttnn.sum(x, dim=-1, keepdim=True).shape == [R, 1]
close(numbers(ttnn.mean(x, dim=0)), [sum(c) / R for c in columns])
close(numbers(ttnn.max(x, dim=1)), [max(row) for row in rows])
close(numbers(ttnn.min(x, dim=1)), [min(row) for row in rows])
assert ttnn.sum(x).shape == []
close([ttnn.sum(x).item()], [sum(values)])
mean = [sum(row) / C for row in rows]
var = [sum((v - m) ** 2 for v in row) / (C - 1) for row, m in zip(rows, mean)]
close(numbers(ttnn.var(x, dim=-1)), var)
close(numbers(ttnn.std(x, dim=-1)), [math.sqrt(v) for v in var])
cube = ttnn.reshape(x, [2, 32, C])
close(numbers(ttnn.sum(cube, dim=0)), [values[i] + values[i + 32 * C] for i in range(32 * C)])

powers = [[math.exp(v - max(row)) for v in row] for row in rows]
close(numbers(ttnn.softmax(x, dim=-1)), [p / sum(row) for row in powers for p in row])
weight = ttnn.full([1, C], 2.0, ttnn.float32, ttnn.TILE_LAYOUT, device)
bias = ttnn.full([1, C], 0.5, ttnn.float32, ttnn.TILE_LAYOUT, device)
want = [2 * (v - m) / math.sqrt(s * (C - 1) / C + 1e-5) + 0.5
        for row, m, s in zip(rows, mean, var) for v in row]
close(numbers(ttnn.layer_norm(x, epsilon=1e-5, weight=weight, bias=bias)), want)
want = [2 * v / math.sqrt(sum(u * u for u in row) / C + 1e-5) for row in rows for v in row]
close(numbers(ttnn.rms_norm(x, epsilon=1e-5, weight=weight)), want)

table = ttnn.Tensor(values, [R, C], ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
indices = ttnn.Tensor([i * 7 % R for i in range(32)], [1, 32], ttnn.uint32,
                      ttnn.ROW_MAJOR_LAYOUT, device)
looked = ttnn.embedding(indices, table, layout=ttnn.TILE_LAYOUT)
assert looked.shape == [1, 32, C] and looked.layout == ttnn.TILE_LAYOUT
close(numbers(looked), [v for i in range(32) for v in rows[i * 7 % R]], 0.01)

found, places = ttnn.topk(x, k=32, dim=-1)
order = [sorted(row, reverse=True)[:32] for row in rows]
close(numbers(found), [v for row in order for v in row])
flat = numbers(places)
close([rows[i // 32][p] for i, p in enumerate(flat)], [v for row in order for v in row])
ordered, _ = ttnn.sort(x, dim=-1)
close(numbers(ordered), [v for row in rows for v in sorted(row)])
assert numbers(ttnn.argmax(x, dim=-1)) == [row.index(max(row)) for row in rows]
running = numbers(ttnn.cumsum(x, dim=1))
close(running[C - 1::C], [sum(row) for row in rows])
close([ttnn.mse_loss(x, x, reduction=ttnn.LossReductionMode.MEAN).item()], [0])
try:
    ttnn.sum(x, dim=5)
except RuntimeError as failure:
    assert "rank 2" in str(failure), failure
else:
    raise AssertionError("a dimension that is not there was summed")
ttnn.close_device(device)
