# SPDX-License-Identifier: Apache-2.0
"""Bundle 1: devices, types, layouts, memory, conversions, creation, products, reshape."""

import ttnn


def numbers(tensor):
    flat = ttnn.reshape(ttnn.from_device(tensor), [tensor.shape.volume()])
    return flat.to_list()


def close(a, b, tolerance=0.02):
    assert len(a) == len(b), (len(a), len(b))
    for x, y in zip(a, b):
        assert abs(x - y) <= tolerance * max(1.0, abs(y)), (x, y)


device = ttnn.open_device(device_id=0)
assert device.get_num_devices() == 1 and device.core_grid.y * device.core_grid.x == 56
assert ttnn.open_device(device_id=0) is device

rows, inner, columns = 64, 96, 32
a_values = [((i * 7) % 13 - 6) / 4 for i in range(rows * inner)]
b_values = [((i * 5) % 11 - 5) / 8 for i in range(inner * columns)]
a = ttnn.Tensor(a_values, [rows, inner], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
b = ttnn.Tensor(b_values, [inner, columns], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
want = [
    sum(a_values[r * inner + k] * b_values[k * columns + c] for k in range(inner))
    for r in range(rows)
    for c in range(columns)
]
close(numbers(ttnn.matmul(a, b)), want)
close(numbers(a @ b), want)
bias = ttnn.ones([1, columns], layout=ttnn.TILE_LAYOUT, device=device)
close(numbers(ttnn.linear(a, b, bias=bias)), [w + 1 for w in want])
close(
    numbers(ttnn.linear(a, b, bias=bias, activation="relu", core_grid=ttnn.CoreGrid(y=2, x=1))),
    [max(0, w + 1) for w in want],
)
close(numbers(ttnn.matmul(b, a, transpose_a=True, transpose_b=True)),
      [want[r * columns + c] for c in range(columns) for r in range(rows)])

assert a.shape == [64, 96] and a.padded_shape == [64, 96] and a.dtype == ttnn.bfloat16
assert a.layout == ttnn.TILE_LAYOUT and a.memory_config() == ttnn.DRAM_MEMORY_CONFIG
odd = ttnn.full([2, 5, 40], 3.0, layout=ttnn.TILE_LAYOUT, device=device)
assert odd.padded_shape == [2, 32, 64]
assert ttnn.reshape(a, [2, 32, 96]).shape == [2, 32, 96]
assert ttnn.reshape(a, (-1, 48)).shape == [128, 48]
close(numbers(ttnn.reshape(a, (-1, 48))), a_values)
row_major = ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT)
close(numbers(row_major), a_values)
moved = ttnn.to_memory_config(a, ttnn.L1_MEMORY_CONFIG)
assert moved.memory_config().buffer_type == ttnn.BufferType.L1
assert ttnn.arange(0, 10, 2, ttnn.int32).to_list() == [0, 2, 4, 6, 8]
assert ttnn.zeros_like(a).shape == a.shape
drawn = numbers(ttnn.rand([32, 32], device))
assert 0 <= min(drawn) < 0.2 and 0.8 < max(drawn) <= 1
eighth = ttnn.Tensor([1.0, 0.3, 100.0, 0.01] * 256, [32, 32], ttnn.bfloat8_b, ttnn.TILE_LAYOUT)
assert eighth.to_list()[0] == [1.0, 0.0, 100.0, 0.0] * 8, eighth.to_list()[0][:4]
assert ttnn.typecast(a, ttnn.float32).dtype == ttnn.float32
assert a[3, 5].shape == [] and abs(a[3, 5].item() - a_values[3 * inner + 5]) < 1e-6
ttnn.deallocate(moved)
try:
    ttnn.relu(moved)
except RuntimeError as failure:
    assert "Buffer is not allocated" in str(failure), failure
else:
    raise AssertionError("a deallocated tensor was used")
print(a)
ttnn.synchronize_device(device)
ttnn.close_device(device)
