# SPDX-License-Identifier: Apache-2.0
"""Bundle 6: heads, attention, rotary embeddings and caches, against plain Python."""

import math

import ttnn

device = ttnn.open_device(device_id=0)
B, S, H, D = 1, 32, 2, 32
WIDTH = H * D


def wave(count, step):
    return [math.sin(step * i) / 2 for i in range(count)]


def tensor(values, shape, dtype=ttnn.float32):
    return ttnn.Tensor(values, shape, dtype, ttnn.TILE_LAYOUT, device)


def close(found, want, tolerance=2e-3):
    if isinstance(want, list):
        assert len(found) == len(want)
        for a, b in zip(found, want):
            close(a, b, tolerance)
    else:
        assert abs(found - want) <= tolerance * max(1, abs(want)), (found, want)


qkv_values = wave(B * S * 3 * WIDTH, 0.37)
qkv = tensor(qkv_values, [B, S, 3 * WIDTH])
q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=H)
assert q.shape == [B, H, S, D] and k.shape == [B, H, D, S] and v.shape == [B, H, S, D]
host = qkv.to_list()[0]
queries = [[row[h * D:(h + 1) * D] for row in host] for h in range(H)]
keys = [[row[WIDTH + h * D:WIDTH + (h + 1) * D] for row in host] for h in range(H)]
held = [[row[2 * WIDTH + h * D:2 * WIDTH + (h + 1) * D] for row in host] for h in range(H)]
close(q.to_list()[0], queries)
close(k.to_list()[0], [[list(c) for c in zip(*m)] for m in keys])


def attention(causal):
    made = []
    for h in range(H):
        rows = []
        for i in range(S):
            scores = [sum(a * b for a, b in zip(queries[h][i], keys[h][j])) / math.sqrt(D)
                      if j <= i or not causal else -1e30 for j in range(S)]
            top = max(scores)
            powers = [math.exp(s - top) for s in scores]
            total = sum(powers)
            rows.append([sum(p * held[h][j][c] for j, p in enumerate(powers)) / total
                         for c in range(D)])
        made.append(rows)
    return made


scores = ttnn.matmul(q, k)
powers = ttnn.transformer.attention_softmax_(scores, head_size=D,
                                             attention_mask=ttnn.zeros([B, 1, S, S], ttnn.float32,
                                                                       ttnn.TILE_LAYOUT, device))
context = ttnn.matmul(powers, v)
close(context.to_list()[0], attention(False))
joined = ttnn.transformer.concatenate_heads(context)
assert joined.shape == [B, S, WIDTH]
close(joined.to_list()[0], [[x for h in range(H) for x in attention(False)[h][i]]
                            for i in range(2)] + joined.to_list()[0][2:])
turned = ttnn.transpose(k, -2, -1)
made = ttnn.transformer.scaled_dot_product_attention(q, turned, v, is_causal=True)
close(made.to_list()[0], attention(True))
parts = ttnn.experimental.nlp_create_qkv_heads(
    ttnn.reshape(qkv, [B, 1, S, 3 * WIDTH]), num_heads=H, transpose_k_heads=False)
assert [p.shape for p in parts] == [[B, H, S, D]] * 3
close(ttnn.experimental.nlp_concat_heads(parts[0]).to_list()[0][0], [r[:WIDTH] for r in host])

cache = ttnn.zeros([2, H, 64, D], ttnn.float32, ttnn.TILE_LAYOUT, device)
ttnn.fill_cache(cache, turned, 1)
close(cache.to_list()[1][0][:S], keys[0])
assert cache.to_list()[0][0][0] == [0.0] * D
new = tensor(wave(2 * H * D, 0.2), [1, 2, H, D])
ttnn.experimental.paged_update_cache(cache, new, update_idxs=[5, 40])
close(cache.to_list()[1][1][40], new.to_list()[0][1][1])
one = ttnn.transformer.scaled_dot_product_attention_decode(
    tensor(wave(2 * H * D, 0.3), [1, 2, H, D]), cache, cache, cur_pos=[5, 40])
assert one.shape == [1, 2, H, D]
angles = [[i * 10000 ** (-(c % (D // 2)) / (D // 2)) for c in range(D)] for i in range(S)]
cos = tensor([math.cos(a) for r in angles for a in r], [1, 1, S, D])
sin = tensor([math.sin(a) for r in angles for a in r], [1, 1, S, D])
rotated = ttnn.experimental.rotary_embedding(q, cos, sin).to_list()[0][0]
half = D // 2
close(rotated, [[queries[0][i][c] * math.cos(angles[i][c]) + math.sin(angles[i][c]) * (
    -queries[0][i][c + half] if c < half else queries[0][i][c - half]) for c in range(D)]
    for i in range(S)])
try:
    ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=4)
except RuntimeError as failure:
    assert "multiple of 32" in str(failure), failure
else:
    raise AssertionError("heads of half a tile were split")
ttnn.close_device(device)
