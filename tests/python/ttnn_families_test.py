# SPDX-License-Identifier: Apache-2.0
"""Parts of four families of models, small and in the form that tt-metal's own models have: shards,
program configurations, prepared weights, a trace with two queues; against PyTorch."""

import importlib.util
import math
import unittest

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch
    import torch.nn.functional as F

    import howard.ttnn as ttnn

    CONFIG = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=True,
                                              fp32_dest_acc_en=False, packer_l1_acc=True)


@unittest.skipUnless(HAS_TORCH, "needs python3-torch")
class FamilyCase(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.device = ttnn.CreateDevice(0, num_command_queues=2, l1_small_size=24576,
                                        trace_region_size=2000000)
        self.addCleanup(ttnn.close_device, self.device)

    def put(self, values, dtype=None, layout=None, **words):
        return ttnn.from_torch(values, dtype or ttnn.bfloat16, layout=layout or ttnn.TILE_LAYOUT,
                               device=self.device, **words)

    def alike(self, golden, made, least=0.999):
        found = ttnn.to_torch(made).float() if isinstance(made, ttnn.Tensor) else made.float()
        self.assertEqual(tuple(found.shape), tuple(golden.shape))
        self.assertGreater(ttnn.pearson_correlation_coefficient(golden.detach().float(), found), least)

    def sharded(self, shape, grid, strategy):
        return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=grid[1], x=grid[0]), strategy)


class Bottleneck(torch.nn.Module if HAS_TORCH else object):
    def __init__(self, channels, inner):
        super().__init__()
        self.conv1, self.bn1 = torch.nn.Conv2d(channels, inner, 1, bias=False), torch.nn.BatchNorm2d(inner)
        self.conv2 = torch.nn.Conv2d(inner, inner, 3, padding=1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(inner)
        self.conv3 = torch.nn.Conv2d(inner, channels, 1, bias=False)
        self.bn3 = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        made = F.relu(self.bn1(self.conv1(x)))
        made = F.relu(self.bn2(self.conv2(made)))
        return F.relu(self.bn3(self.conv3(made)) + x)


class ConvolutionsTest(FamilyCase):
    BATCH, SIDE, CHANNELS = 2, 16, 64

    def convolve(self, x, parameters, channels, out, window, activation, shard):
        """Convolves with weights that are prepared once, as ResNet-50 of tt-metal does."""
        config = ttnn.Conv2dConfig(
            weights_dtype=ttnn.bfloat16, shard_layout=shard, deallocate_activation=False,
            reallocate_halo_output=True, act_block_h_override=32 if window == 3 else 0,
            enable_act_double_buffer=window == 3, enable_weights_double_buffer=True,
            activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if activation else None)
        words = {"in_channels": channels, "out_channels": out, "batch_size": self.BATCH,
                 "input_height": self.SIDE, "input_width": self.SIDE, "kernel_size": (window, window),
                 "stride": (1, 1), "padding": (window // 2, window // 2), "dilation": (1, 1),
                 "groups": 1, "device": self.device, "conv_config": config}
        if not ttnn.is_tensor_storage_on_device(parameters["weight"]):
            told = {"input_memory_config": x.memory_config(), "input_layout": x.get_layout(),
                    "input_dtype": ttnn.bfloat16, **words}
            parameters["weight"] = ttnn.prepare_conv_weights(
                weight_tensor=parameters["weight"], weights_format="OIHW", has_bias=True, **told)
            parameters["bias"] = ttnn.prepare_conv_bias(bias_tensor=parameters["bias"], **told)
        made, (height, width) = ttnn.conv2d(
            input_tensor=x, weight_tensor=parameters["weight"], bias_tensor=parameters["bias"], **words,
            compute_config=CONFIG, return_output_dim=True, return_weights_and_bias=False,
            dtype=ttnn.bfloat16)
        self.assertEqual((height, width), (self.SIDE, self.SIDE))
        return made

    def block(self, x, parameters):
        shard = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
        inner = self.CHANNELS // 2
        made = self.convolve(x, parameters.conv1, self.CHANNELS, inner, 1, True, shard)
        made = self.convolve(made, parameters.conv2, inner, inner, 3, True, shard)
        made = self.convolve(made, parameters.conv3, inner, self.CHANNELS, 1, False, shard)
        return ttnn.add_(made, x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)])

    def test_a_block_of_resnet_is_replayed_for_new_images(self):
        model = Bottleneck(self.CHANNELS, self.CHANNELS // 2).eval()

        def custom(model, name, ttnn_module_args, convert_to_ttnn):
            found = {}
            for i in (1, 2, 3):
                conv, bn = getattr(model, f"conv{i}"), getattr(model, f"bn{i}")
                weight, bias = ttnn.model_preprocessing.fold_batch_norm2d_into_conv2d(conv, bn)
                found[f"conv{i}"] = {"weight": ttnn.from_torch(weight), "bias": ttnn.from_torch(bias)}
            return found

        parameters = ttnn.model_preprocessing.preprocess_model_parameters(
            initialize_model=lambda: model, custom_preprocessor=custom, device=None)
        places = self.BATCH * self.SIDE**2
        wanted = self.sharded((1, 1, places, self.CHANNELS), (4, 4), ttnn.ShardStrategy.HEIGHT)
        images = [torch.randn(self.BATCH, self.CHANNELS, self.SIDE, self.SIDE) for _ in range(3)]

        def host(image):
            return ttnn.from_torch(image.permute(0, 2, 3, 1).reshape(1, 1, places, self.CHANNELS),
                                   ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)

        read = ttnn.record_event(self.device, 0)
        waiting = host(images[0]).to(self.device, ttnn.DRAM_MEMORY_CONFIG)
        x = ttnn.to_memory_config(waiting, wanted)
        spec = x.spec
        ttnn.deallocate(self.block(x, parameters))  # Compiles, and prepares the weights.
        address = x.buffer_address()
        trace = ttnn.begin_trace_capture(self.device, cq_id=0)
        made = self.block(x, parameters)
        x.deallocate(force=True)
        x = ttnn.allocate_tensor_on_device(spec, self.device)
        ttnn.end_trace_capture(self.device, trace, cq_id=0)
        self.assertEqual(x.buffer_address(), address)
        for image in images:
            ttnn.wait_for_event(1, read)
            ttnn.copy_host_to_device_tensor(host(image), waiting, cq_id=1)
            written = ttnn.record_event(self.device, 1)
            ttnn.wait_for_event(0, written)
            x = ttnn.to_memory_config(waiting, wanted, output_tensor=x)
            read = ttnn.record_event(self.device, 0)
            ttnn.execute_trace(self.device, trace, cq_id=0, blocking=False)
            with torch.no_grad():
                golden = model(image).permute(0, 2, 3, 1).reshape(1, 1, places, self.CHANNELS)
            self.alike(golden, made.cpu(blocking=True))
        ttnn.release_trace(self.device, trace)

    def test_the_first_images_are_folded_on_their_cores(self):
        image = torch.randn(4, 3, 32, 32)
        grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 0))})
        where = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1,
                                  ttnn.ShardSpec(grid, (48, 32), ttnn.ShardOrientation.ROW_MAJOR))
        x = self.put(image, layout=ttnn.ROW_MAJOR_LAYOUT, memory_config=where)
        made = ttnn.fold(x, 2, 2, use_transpose_as_fold=True, padding=[3, 3, 3, 3, 0, 1], grid_size=grid)
        wide = F.pad(image, (3, 3, 3, 3, 0, 1)).reshape(4, 4, 19, 2, 19, 2)
        self.alike(wide.permute(0, 2, 4, 3, 5, 1).reshape(4, 19, 19, 16), made, 0.9999)
        self.assertEqual(made.memory_config().shard_spec.shape, [-(-4 * 19 * 19 // 8), 16])


class EncodersTest(FamilyCase):
    HEADS, SIZE = 4, 64

    def weights(self, *shapes):
        return [torch.randn(shape) / math.sqrt(shape[0]) for shape in shapes]

    def product(self, grid, rows, inner, columns, activation=None):
        tiles = rows // 32 // grid[1], columns // 32 // grid[0]
        return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=grid, in0_block_w=inner // 32 // grid[0], out_subblock_h=1,
            out_subblock_w=1, per_core_M=tiles[0], per_core_N=tiles[1], transpose_mcast=False,
            fused_activation=activation)

    def attended(self, q, k, v, mask):
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.SIZE) + mask
        return (torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2)

    def test_attention_of_bert(self):
        batch, rows, width = 4, 64, self.HEADS * self.SIZE
        x, (w, out) = torch.randn(batch, 1, rows, width), self.weights((width, 3 * width), (width, width))
        mask = torch.where(torch.arange(rows) < 48, 0.0, -1e4).reshape(1, 1, 1, rows).repeat(batch, 1, 1, 1)
        grid = (4, 4)
        blocks = self.sharded((batch, 1, rows, width), grid, ttnn.ShardStrategy.BLOCK)
        # Each column of cores has the queries, keys and values of its own heads.
        parts = w.reshape(width, 3, grid[0], -1).transpose(1, 2).reshape(width, 3 * width)
        qkv = ttnn.matmul(
            self.put(x, ttnn.bfloat8_b, memory_config=blocks), self.put(parts, ttnn.bfloat8_b),
            program_config=self.product(grid, batch * rows, width, 3 * width),
            memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat8_b,
            compute_kernel_config=CONFIG)
        q, k, v = ttnn.experimental.split_query_key_value_and_split_heads(
            qkv, compute_with_storage_grid_size=grid, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
            num_heads=self.HEADS)
        scores = ttnn.matmul(q, k, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat16,
                             program_config=ttnn.MatmulMultiCoreReuseProgramConfig(
                                 compute_with_storage_grid_size=grid, in0_block_w=2, out_subblock_h=1,
                                 out_subblock_w=2, per_core_M=2, per_core_N=2))
        scores = ttnn.scale_mask_softmax_in_place(
            scores, 1 / math.sqrt(self.SIZE), self.put(mask),
            program_config=ttnn.SoftmaxShardedMultiCoreProgramConfig(
                compute_with_storage_grid_size=grid, subblock_w=2, block_h=2, block_w=2),
            is_causal_mask=False)
        made = ttnn.matmul(scores, v, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
                           dtype=ttnn.bfloat8_b, program_config=ttnn.MatmulMultiCoreReuseProgramConfig(
                               compute_with_storage_grid_size=grid, in0_block_w=2, out_subblock_h=1,
                               out_subblock_w=2, per_core_M=2, per_core_N=2))
        made = ttnn.experimental.concatenate_heads(made, compute_with_storage_grid_size=grid,
                                                   memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
        made = ttnn.linear(made, self.put(out, ttnn.bfloat8_b), bias=None, dtype=ttnn.bfloat16,
                           program_config=self.product(grid, batch * rows, width, width),
                           memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
        q, k, v = (one.reshape(batch, rows, self.HEADS, -1).transpose(1, 2)
                   for one in (x[:, 0] @ w).chunk(3, -1))
        self.alike((self.attended(q, k, v, mask) @ out)[:, None], made, 0.998)

    def test_a_layer_of_vit(self):
        batch, rows, width = 2, 64, self.HEADS * self.SIZE
        x = torch.randn(batch, rows, width)
        w, out, up, down = self.weights((width, 3 * width), (width, width), (width, 4 * width),
                                        (4 * width, width))
        gain, shift = torch.rand(width) + 0.5, torch.randn(width) / 4
        grid = (4, 4)
        blocks = self.sharded((batch, rows, width), grid, ttnn.ShardStrategy.BLOCK)
        norm = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=grid, subblock_w=2, block_h=1, block_w=2, inplace=False)

        def normal(values):
            return ttnn.layer_norm(values, weight=self.put(gain.reshape(1, -1)), bias=self.put(shift.reshape(1, -1)),
                                   memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, program_config=norm,
                                   epsilon=1e-12)

        def linear(values, weight, activation=None, dtype=ttnn.bfloat8_b):
            a, b = weight.shape
            return ttnn.linear(values, self.put(weight, ttnn.bfloat8_b), dtype=dtype,
                               bias=self.put(torch.zeros(1, b), ttnn.bfloat8_b),
                               memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
                               program_config=self.product(grid, batch * rows, a, b, activation))

        hidden = self.put(x, memory_config=blocks)
        qkv = ttnn.to_memory_config(linear(normal(hidden), w), ttnn.L1_MEMORY_CONFIG)
        q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(
            qkv, num_heads=self.HEADS, transpose_key=True, memory_config=ttnn.L1_MEMORY_CONFIG)
        scores = ttnn.matmul(q, k, dtype=ttnn.bfloat8_b, memory_config=ttnn.L1_MEMORY_CONFIG)
        scores = ttnn.transformer.attention_softmax_(
            scores, head_size=self.SIZE, attention_mask=self.put(torch.zeros(batch, 1, 1, rows)))
        made = ttnn.transformer.concatenate_heads(ttnn.matmul(scores, v, dtype=ttnn.bfloat8_b),
                                                  memory_config=ttnn.L1_MEMORY_CONFIG)
        made = ttnn.to_memory_config(made, blocks)
        # The residual is bfloat16, and what is added to it is not.
        hidden = ttnn.add(linear(made, out), hidden, dtype=ttnn.bfloat16,
                          memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
        inner = linear(normal(hidden), up, (ttnn.UnaryOpType.GELU, True))
        made = ttnn.add(linear(inner, down), hidden, dtype=ttnn.bfloat16)

        def golden_norm(values):
            return F.layer_norm(values, (width,), gain, shift)

        q, k, v = (one.reshape(batch, rows, self.HEADS, -1).transpose(1, 2)
                   for one in (golden_norm(x) @ w).chunk(3, -1))
        golden = x + self.attended(q, k, v, 0.0) @ out
        golden = golden + F.gelu(golden_norm(golden) @ up) @ down
        self.alike(golden, made)


class DecodersTest(FamilyCase):
    USERS, HEADS, GROUPS, SIZE, WIDTH = 32, 8, 2, 64, 512

    def test_a_step_of_llama(self):
        users, heads, groups, size, width = self.USERS, self.HEADS, self.GROUPS, self.SIZE, self.WIDTH
        x = torch.randn(1, 1, users, width)
        qkv = torch.randn(width, (heads + 2 * groups) * size) / math.sqrt(width)
        out = torch.randn(width, width) / math.sqrt(width)
        w1, w3 = (torch.randn(width, 1024) / math.sqrt(width) for _ in range(2))
        w2 = torch.randn(1024, width) / 32
        place, block, blocks = 40, 32, 4
        keys, old_values = (torch.randn(users * blocks, groups, block, size) for _ in range(2))
        table = torch.randperm(users * blocks).reshape(users, blocks)
        angle = place / 10000 ** (torch.arange(0, size, 2) / size)
        cos, sin = (f(angle).repeat_interleave(2).reshape(1, 1, 1, size) for f in (torch.cos, torch.sin))
        swap = torch.zeros(1, 1, 32, 32)
        swap[..., torch.arange(0, 32, 2), torch.arange(1, 32, 2)] = 1
        swap[..., torch.arange(1, 32, 2), torch.arange(0, 32, 2)] = -1

        rows = ttnn.create_sharded_memory_config((32, width // 16), ttnn.CoreGrid(x=8, y=2),
                                                 ttnn.ShardStrategy.WIDTH,
                                                 use_height_and_width_as_shard_shape=True)
        per_user = ttnn.create_sharded_memory_config((32, size), ttnn.CoreGrid(x=8, y=4),
                                                     ttnn.ShardStrategy.HEIGHT,
                                                     use_height_and_width_as_shard_shape=True)
        hidden = self.put(x, memory_config=rows)
        normal = ttnn.rms_norm(
            hidden, epsilon=1e-5, weight=self.put(torch.ones(1, 1, width // 32, 32), layout=ttnn.ROW_MAJOR_LAYOUT),
            program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
                compute_with_storage_grid_size=(8, 2), subblock_w=1, block_h=1, block_w=1, inplace=False),
            memory_config=rows, compute_kernel_config=CONFIG)
        fused = ttnn.sharded_to_interleaved(ttnn.linear(
            normal, self.put(qkv, ttnn.bfloat8_b), memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
            program_config=ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
                compute_with_storage_grid_size=(8, 3), in0_block_w=1, out_subblock_h=1, out_subblock_w=1,
                per_core_M=1, per_core_N=1, fuse_batch=True, fused_activation=None, mcast_in0=True),
            compute_kernel_config=CONFIG, dtype=ttnn.bfloat16), ttnn.L1_MEMORY_CONFIG)
        q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(
            ttnn.reshape(fused, (1, 1, users, (heads + 2 * groups) * size)), num_heads=heads,
            num_kv_heads=groups, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
        tables = [self.put(one.expand(1, users, 1, size), memory_config=per_user) for one in (cos, sin)]
        turn = self.put(swap.repeat(1, 1, users, 1), memory_config=ttnn.create_sharded_memory_config(
            (32, 32), ttnn.CoreGrid(x=8, y=4), ttnn.ShardStrategy.HEIGHT,
            use_height_and_width_as_shard_shape=True))
        q, k = (ttnn.experimental.rotary_embedding_llama(one, *tables, turn, is_decode_mode=True)
                for one in (q, k))
        caches = [self.put(one, ttnn.bfloat8_b) for one in (keys, old_values)]
        places = self.put(torch.full((users,), place), ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)
        pages = self.put(table, ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)
        for cache, new in zip(caches, (k, v)):
            ttnn.experimental.paged_update_cache(cache, new, update_idxs_tensor=places, page_table=pages)
        made = ttnn.transformer.paged_scaled_dot_product_attention_decode(
            q, *caches, cur_pos_tensor=places, page_table_tensor=pages, scale=size**-0.5,
            program_config=ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8),
                                                  exp_approx_mode=False, q_chunk_size=0, k_chunk_size=0),
            compute_kernel_config=CONFIG, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        made = ttnn.experimental.nlp_concat_heads_decode(ttnn.to_memory_config(
            made, ttnn.create_sharded_memory_config((32, size), ttnn.CoreGrid(x=8, y=4),
                                                    ttnn.ShardStrategy.HEIGHT,
                                                    use_height_and_width_as_shard_shape=True)),
            num_heads=heads)
        self.assertIs(made.memory_config().memory_layout, ttnn.TensorMemoryLayout.WIDTH_SHARDED)
        hidden = ttnn.add(ttnn.linear(made, self.put(out, ttnn.bfloat8_b), core_grid=ttnn.CoreGrid(y=2, x=8),
                                      memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
                                      dtype=ttnn.bfloat16), hidden, memory_config=rows)
        gate, more = (ttnn.linear(hidden, self.put(one, ttnn.bfloat4_b), dtype=ttnn.bfloat8_b,
                                  core_grid=ttnn.CoreGrid(y=4, x=8),
                                  memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG) for one in (w1, w3))
        inner = ttnn.mul(gate, more, input_tensor_a_activations=[ttnn.UnaryOpType.SILU],
                         dtype=ttnn.bfloat8_b, memory_config=gate.memory_config())
        made = ttnn.add(ttnn.linear(inner, self.put(w2, ttnn.bfloat8_b),
                                    memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16), hidden)

        flat = x[0, 0] / (x[0, 0].pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
        parts = (flat @ qkv).split([heads * size, groups * size, groups * size], -1)
        q, k, v = (one.reshape(users, -1, size) for one in parts)

        def turned(one):
            pairs = torch.stack([-one[..., 1::2], one[..., ::2]], -1).flatten(-2)
            return one * cos[0] + pairs * sin[0]

        results = []
        for user in range(users):
            seen = [torch.cat([one[page] for page in table[user]], 1)[:, :place] for one in (keys, old_values)]
            whole = [torch.cat([old, new[user][:, None]], 1).repeat_interleave(heads // groups, 0)
                     for old, new in zip(seen, (turned(k), v))]
            shares = torch.softmax(torch.einsum("hd,hsd->hs", turned(q)[user], whole[0]) / 8, -1)
            results.append(torch.einsum("hs,hsd->hd", shares, whole[1]).flatten())
        golden = torch.stack(results) @ out + x[0, 0]
        golden = golden + (F.silu(golden @ w1) * (golden @ w3)) @ w2
        self.alike(golden[None, None], made, 0.99)


if __name__ == "__main__":
    unittest.main()
