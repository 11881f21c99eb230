# SPDX-License-Identifier: Apache-2.0
"""Bundle 4: parts, orders, joins, padding; what is a view and what is a program."""

import ttnn

device = ttnn.open_device(device_id=0)
shape = [2, 3, 64, 32]
count = 2 * 3 * 64 * 32
x = ttnn.Tensor([float(i % 251) for i in range(count)], shape, ttnn.bfloat16, ttnn.TILE_LAYOUT,
                device)
host = x.to_list()


def same(tensor, want):
    assert tensor.to_list() == want


same(ttnn.transpose(x, -2, -1), [[[list(r) for r in zip(*m)] for m in b] for b in host])
same(ttnn.permute(x, (0, 2, 1, 3)), [[[host[b][c][r] for c in range(3)] for r in range(64)]
                                     for b in range(2)])
assert ttnn.permute(x, (0, 1, 2, 3)) is x
same(x[:, 1:2, 32:, :], [[[r for r in m[32:]] for m in b[1:2]] for b in host])
same(x[1, 2], host[1][2])
same(x[..., ::2], [[[r[::2] for r in m] for m in b] for b in host])
same(ttnn.slice(x, [0, 0, 0, 0], [1, 3, 32, 32]), [[m[:32] for m in host[0]]])
same(ttnn.concat([x, x], dim=0), host + host)
same(ttnn.concat([x, x], dim=-1), [[[r + r for r in m] for m in b] for b in host])
left, right = ttnn.split(x, 32, dim=2)
same(right, [[m[32:] for m in b] for b in host])
assert [t.shape[1] for t in ttnn.chunk(x, 3, 1)] == [1, 1, 1]
padded = ttnn.pad(x, [(0, 0), (0, 0), (0, 32), (0, 0)], 7.0)
assert padded.shape == [2, 3, 96, 32] and padded[0, 0, 95, 31].item() == 7.0
same(ttnn.repeat(x, [1, 2, 1, 1]), [b + b for b in host])
same(ttnn.repeat_interleave(x, 2, 1), [[m for m in b for _ in range(2)] for b in host])
same(ttnn.roll(x, 1, 1), [[b[2], b[0], b[1]] for b in host])
assert ttnn.unsqueeze(x, 0).shape == [1, 2, 3, 64, 32]
assert ttnn.squeeze(x[0:1], 0).shape == [3, 64, 32]
same(ttnn.stack([x, x], 0), [host, host])
same(ttnn.tril(x[0, 0, :32]), [[v if c <= r else 0.0 for c, v in enumerate(row)]
                               for r, row in enumerate(host[0][0][:32])])
index = ttnn.Tensor([1, 0] * 16, [1, 32], ttnn.uint32, ttnn.TILE_LAYOUT, device)
picked = ttnn.gather(x[0, 0, :2], 0, index)
same(picked, [[host[0][0][1 - c % 2][c] for c in range(32)]])
before = device.num_program_cache_entries()
ttnn.reshape(x, [6, 64, 32])
assert device.num_program_cache_entries() == before, "a view was a program"
same(ttnn.reshape(x, [6, 32, 64]), [
    [[float((b * 2048 + r * 64 + c) % 251) for c in range(64)] for r in range(32)]
    for b in range(6)])
for bad, kind in ((lambda: x[5], IndexError), (lambda: x[0, 0, 0, 0, 0], IndexError),
                  (lambda: x["a"], TypeError), (lambda: ttnn.reshape(x, [7, 7]), RuntimeError),
                  (lambda: ttnn.permute(x, (0, 0, 1, 2)), RuntimeError),
                  (lambda: ttnn.concat([x, left], dim=0), RuntimeError)):
    try:
        bad()
    except kind:
        continue
    raise AssertionError(f"{kind.__name__} was expected")
ttnn.close_device(device)
