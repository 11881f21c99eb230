# SPDX-License-Identifier: Apache-2.0
"""Whisper in the form of tt-metal's demo (models/demos/audio/whisper): bfloat16, products on all cores, attention in one kernel."""

from dataclasses import dataclass

import ttnn
from throughput import measure, open_device

WIDTH, HEADS, HEAD, VOCABULARY = 1280, 20, 64, 51866
FRAMES, PLACES, TARGETS = 3000, 1500, 448
BEFORE = 128  # Tokens that a timed one sees.
USER = ttnn.create_sharded_memory_config([32, HEAD], ttnn.CoreGrid(x=1, y=1), ttnn.ShardStrategy.HEIGHT,
                                         use_height_and_width_as_shard_shape=True)


@dataclass(frozen=True)
class Sizes:
    encoder_layers: int = 32
    decoder_layers: int = 32


class Part:
    """What layers of both kinds have: products with a row that is added, and norms."""

    def __init__(self, device):
        self.device = device

    def tensor(self, *shape):
        return ttnn.rand(list(shape), self.device, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)

    def pair(self, rows, columns):
        return self.tensor(rows, columns), self.tensor(1, columns)

    @staticmethod
    def linear(x, pair, activation=None):
        return ttnn.linear(x, pair[0], bias=pair[1], activation=activation, memory_config=ttnn.L1_MEMORY_CONFIG,
                           dtype=ttnn.bfloat16, core_grid=ttnn.CoreGrid(x=8, y=8))

    @staticmethod
    def norm(x, pair):
        return ttnn.layer_norm(x, weight=pair[0], bias=pair[1], epsilon=1e-5, memory_config=ttnn.L1_MEMORY_CONFIG)

    def feed_forward(self, x):
        y = self.linear(self.linear(self.norm(x, self.last_norm), self.up, "gelu"), self.down)
        return ttnn.add(x, y, memory_config=ttnn.L1_MEMORY_CONFIG)

    def make_feed_forward(self):
        self.last_norm = self.tensor(1, WIDTH), self.tensor(1, WIDTH)
        self.up, self.down = self.pair(WIDTH, 4 * WIDTH), self.pair(4 * WIDTH, WIDTH)


class EncoderLayer(Part):
    def __init__(self, device):
        super().__init__(device)
        self.first_norm = self.tensor(1, WIDTH), self.tensor(1, WIDTH)
        self.qkv, self.out = self.pair(WIDTH, 3 * WIDTH), self.pair(WIDTH, WIDTH)
        self.make_feed_forward()

    def __call__(self, x):
        y = self.linear(self.norm(x, self.first_norm), self.qkv)
        q, k, v = ttnn.experimental.nlp_create_qkv_heads(y, num_heads=HEADS, num_kv_heads=HEADS,
                                                         transpose_k_heads=False)
        ttnn.deallocate(y)
        y = ttnn.transformer.scaled_dot_product_attention(
            q, k, v, is_causal=False, program_config=ttnn.SDPAProgramConfig(
                compute_with_storage_grid_size=(8, 8), q_chunk_size=256, k_chunk_size=256, exp_approx_mode=False))
        y = self.linear(ttnn.experimental.nlp_concat_heads(y), self.out)
        return self.feed_forward(ttnn.add(x, y, memory_config=ttnn.L1_MEMORY_CONFIG))


class Encoder(Part):
    """Two convolutions of 30 s of sound, which halve its length, and the layers."""

    def __init__(self, device, layers):
        super().__init__(device)
        self.weights = [ttnn.rand([WIDTH, channels, 1, 3], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
                        for channels in (128, WIDTH)]
        self.biases = [ttnn.rand([1, 1, 1, WIDTH], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
                       for _ in self.weights]
        self.places = self.tensor(1, 1, PLACES, WIDTH)
        self.layers = [EncoderLayer(device) for _ in range(layers)]
        self.end = self.tensor(1, WIDTH), self.tensor(1, WIDTH)

    def conv(self, x, i, length):
        x, pair = ttnn.conv1d(
            input_tensor=x, weight_tensor=self.weights[i], bias_tensor=self.biases[i], device=self.device,
            in_channels=(128, WIDTH)[i], out_channels=WIDTH, kernel_size=3, stride=(1, 2)[i], padding=1, batch_size=1,
            input_length=length, conv_config=ttnn.Conv1dConfig(
                weights_dtype=ttnn.bfloat16,
                shard_layout=ttnn.TensorMemoryLayout.BLOCK_SHARDED, act_block_h_override=32),
            return_weights_and_bias=True)
        self.weights[i], self.biases[i] = pair
        return ttnn.gelu(ttnn.to_memory_config(ttnn.to_layout(x, ttnn.TILE_LAYOUT), ttnn.L1_MEMORY_CONFIG))

    def __call__(self, x):
        x = self.conv(self.conv(x, 0, FRAMES), 1, FRAMES)
        x = ttnn.add(ttnn.reshape(x, (1, 1, PLACES, WIDTH)), self.places, memory_config=ttnn.L1_MEMORY_CONFIG)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x, self.end)


class DecoderLayer(Part):
    """Attends to the tokens before, and to what the encoder gave, whose keys and values are made once."""

    def __init__(self, device):
        super().__init__(device)
        self.first_norm = self.tensor(1, WIDTH), self.tensor(1, WIDTH)
        self.qkv, self.out = self.pair(WIDTH, 3 * WIDTH), self.pair(WIDTH, WIDTH)
        self.cross_norm = self.tensor(1, WIDTH), self.tensor(1, WIDTH)
        self.query, self.cross_out = self.pair(WIDTH, WIDTH), self.pair(WIDTH, WIDTH)
        self.cache = [self.tensor(1, HEADS, TARGETS, HEAD) for _ in range(2)]
        self.seen = [self.tensor(1, HEADS, PLACES, HEAD) for _ in range(2)]
        self.make_feed_forward()

    def __call__(self, x):
        y = self.linear(self.norm(x, self.first_norm), self.qkv)
        q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(y, num_heads=HEADS, num_kv_heads=HEADS,
                                                                memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
        for cache, one in zip(self.cache, (k, v)):
            ttnn.experimental.paged_update_cache(cache, one, update_idxs=[BEFORE])
        y = ttnn.transformer.scaled_dot_product_attention_decode(q, *self.cache, cur_pos=[BEFORE])
        y = ttnn.experimental.nlp_concat_heads_decode(ttnn.to_memory_config(y, USER), num_heads=HEADS)
        y = self.linear(ttnn.to_memory_config(y, ttnn.L1_MEMORY_CONFIG), self.out)
        x = ttnn.add(x, y, memory_config=ttnn.L1_MEMORY_CONFIG)
        y = self.linear(self.norm(x, self.cross_norm), self.query)
        q = ttnn.transpose(ttnn.reshape(y, (1, 1, HEADS, HEAD)), 1, 2)
        y = ttnn.transformer.scaled_dot_product_attention(q, *self.seen, is_causal=False)
        y = self.linear(ttnn.experimental.nlp_concat_heads(y), self.cross_out)
        return self.feed_forward(ttnn.add(x, y, memory_config=ttnn.L1_MEMORY_CONFIG))


class Decoder(Part):
    def __init__(self, device, layers):
        super().__init__(device)
        self.words = ttnn.rand([VOCABULARY, WIDTH], device, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
        self.place = self.tensor(1, 1, 1, WIDTH)
        self.layers = [DecoderLayer(device) for _ in range(layers)]
        self.end = self.tensor(1, WIDTH), self.tensor(1, WIDTH)
        self.head = self.tensor(WIDTH, VOCABULARY)

    def __call__(self, ids):
        x = ttnn.embedding(ids, self.words, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.L1_MEMORY_CONFIG)
        x = ttnn.add(ttnn.reshape(x, (1, 1, 1, WIDTH)), self.place, memory_config=ttnn.L1_MEMORY_CONFIG)
        for layer in self.layers:
            x = layer(x)
        return ttnn.linear(self.norm(x, self.end), self.head, dtype=ttnn.bfloat16)


def measure_encoder(name, sizes):
    device = open_device()
    sound = ttnn.zeros([1, 1, FRAMES, 128], dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
    measure(name, device, 1, "30 s of sound", sound, ttnn.DRAM_MEMORY_CONFIG,
            Encoder(device, sizes.encoder_layers))
    ttnn.close_device(device)


def measure_decoder(name, sizes):
    device = open_device()
    ids = ttnn.zeros([1, 1], dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT)
    measure(name, device, 1, "token", ids, ttnn.DRAM_MEMORY_CONFIG, Decoder(device, sizes.decoder_layers))
    ttnn.close_device(device)
