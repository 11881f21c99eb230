# SPDX-License-Identifier: Apache-2.0
"""A GPT block by block on random weights, without torch; then a step of it as a trace."""

import ttnn

WIDTH, HEADS, LENGTH, TOKENS = 128, 4, 64, 256


class Linear:
    def __init__(self, device, rows, columns):
        self.weight = ttnn.rand((rows, columns), device=device, low=-0.05, high=0.05)
        self.bias = ttnn.zeros((1, columns), layout=ttnn.TILE_LAYOUT, device=device)

    def __call__(self, x, **options):
        return ttnn.linear(x, self.weight, bias=self.bias, **options)


class Block:
    def __init__(self, device):
        self.joined, self.out = Linear(device, WIDTH, 3 * WIDTH), Linear(device, WIDTH, WIDTH)
        self.wide, self.narrow = Linear(device, WIDTH, 4 * WIDTH), Linear(device, 4 * WIDTH, WIDTH)
        self.scale = ttnn.ones((1, WIDTH), layout=ttnn.TILE_LAYOUT, device=device)

    def __call__(self, x):
        y = ttnn.layer_norm(x, weight=self.scale, epsilon=1e-5)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads(
            self.joined(y), num_heads=HEADS, transpose_k_heads=False)
        y = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = ttnn.add(x, self.out(ttnn.experimental.nlp_concat_heads(y)))
        y = ttnn.rms_norm(x, weight=self.scale, epsilon=1e-5)
        return x + self.narrow(self.wide(y, activation="gelu", core_grid=ttnn.CoreGrid(y=7, x=8)))


def main():
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)
    table = ttnn.full((TOKENS, WIDTH), 0.25, dtype=ttnn.bfloat16, device=device)
    ids = ttnn.Tensor(list(range(LENGTH)), [1, LENGTH], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device)
    blocks, head = [Block(device) for _ in range(2)], Linear(device, WIDTH, TOKENS)

    def forward():
        x = ttnn.reshape(ttnn.embedding(ids, table, layout=ttnn.TILE_LAYOUT), (1, 1, LENGTH, WIDTH))
        for block in blocks:
            x = block(x)
        return ttnn.softmax(head(x), dim=-1)

    first = forward().to_list()
    assert abs(sum(first[0][0][0]) - 1) < 0.02
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    again = forward()
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    assert again.to_list() == first
    ttnn.release_trace(device, trace)
    places = ttnn.argmax(ttnn.to_layout(again, ttnn.ROW_MAJOR_LAYOUT), dim=-1)
    assert list(places.shape) == [1, 1, LENGTH]
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
