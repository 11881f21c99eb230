# SPDX-License-Identifier: Apache-2.0
"""What ops of layers, of shards and of meshes give for each of their arguments, against numbers that
PyTorch or ttnn give."""

import math
import unittest

import numpy

import howard.ttnn as ttnn
from howard.ttnn._operations import transformer
from ttnn_values_case import ROWS, TILE, ValuesCase, device, get, ints, put, sharded


class CachesTest(ValuesCase):
    def setUp(self):
        self.cache = put(numpy.zeros((2, 1, 64, 32)))
        self.users = put(numpy.array([1.0, 2]).reshape(1, 2, 1, 1).repeat(32, 2).repeat(32, 3))

    def test_a_shared_cache_has_all_users_in_its_first_place(self):
        update = ttnn.experimental.paged_update_cache
        update(self.cache, self.users, update_idxs=[3, 5], share_cache=True)
        self.assertEqual(get(self.cache)[:, 0, [3, 5], 0].tolist(), [[1, 2], [0, 0]])
        self.refused("batch_offset=1 is not computed", update, self.cache, self.users,
                     update_idxs=[0, 0], batch_offset=1)

    def test_devices_outside_of_mesh_coords_keep_what_they_have(self):
        update = ttnn.experimental.paged_update_cache
        update(self.cache, self.users, update_idxs=[0, 0], mesh_coords={ttnn.MeshCoordinate(0, 0)})
        self.assertEqual(get(self.cache)[:, 0, 0, 0].tolist(), [1, 2])
        update(self.cache, self.users, update_idxs=[1, 1], mesh_coords=set())
        self.assertEqual(get(self.cache)[:, 0, 1, 0].tolist(), [0, 0])
        self.refused("mesh_coords has \\(0, 1\\)", update, self.cache, self.users,
                     update_idxs=[0, 0], mesh_coords=[ttnn.MeshCoordinate(0, 1)])

    def test_a_page_is_filled_for_the_user_of_a_tensor(self):
        table, x = ints([0, 0], [1, -1]), put(numpy.ones((1, 1, 128, 32)))
        ttnn.experimental.paged_fill_cache(self.cache, x, table, batch_idx_tensor=ints(
            1, dtype=ttnn.uint32))
        self.assertEqual(get(self.cache)[:, 0, 63, 31].tolist(), [0, 1])

    def test_what_a_cache_is_written_is_not_in_copies_of_it(self):
        copy, numbers = ttnn.clone(self.cache), get(self.cache)
        for place in (3, 4):
            ttnn.update_cache(self.cache, put(numpy.ones((1, 1, 32, 32))), place)
        ttnn.fill_cache(self.cache, put(numpy.full((1, 1, 2, 32), 7.0)), 1)
        self.assertEqual(get(self.cache)[:, 0, [0, 3, 4, 5], 9].tolist(), [[0, 1, 1, 0], [7, 1, 1, 0]])
        self.assertEqual((get(copy).max(), numbers.max()), (0, 0))


class ConfigsTest(ValuesCase):
    """Configurations that ttnn refuses for an operand's shards, or for a device of 8x7 cores."""

    def test_blocks_of_norms_are_shards(self):
        blocks = sharded((1, 1, 1792, 1024), ttnn.ShardStrategy.BLOCK, 8, 7)
        x = put(numpy.ones((1, 1, 1792, 1024)), ttnn.bfloat16, memory_config=blocks)

        def norm(op, grid, height, width, subblock):
            return op(x, memory_config=blocks, program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
                compute_with_storage_grid_size=grid, subblock_w=subblock, block_h=height, block_w=width,
                inplace=False))

        for op in (ttnn.layer_norm, ttnn.rms_norm):
            self.assertEqual(norm(op, (8, 7), 8, 4, 4).shape, x.shape)
            for text, *config in (
                    ("block_w \\(4\\) must be divisible by subblock_w \\(3\\)", (8, 7), 8, 4, 3),
                    ("block_w \\(4\\) must be divisible by subblock_w \\(16\\)", (8, 7), 8, 4, 16),
                    ("block_h \\(4\\) \\* TILE_HEIGHT must be the shard's height: 256", (8, 7), 4, 4, 4),
                    ("block_w \\(2\\) \\* TILE_WIDTH must be the shard's width: 128", (8, 7), 8, 2, 2),
                    ("9x9 is larger than the 8x7 cores", (9, 9), 8, 4, 4)):
                self.refused(text, norm, op, *config)

    def test_blocks_of_softmax_are_shards(self):
        rows = sharded((1, 1, 1792, 1024), ttnn.ShardStrategy.HEIGHT, 8, 7)

        def softmax(op, grid, height, width, subblock, **told):
            x = put(numpy.ones((1, 1, 1792, 1024)), ttnn.bfloat16, memory_config=rows)
            return op(x, **told, program_config=ttnn.SoftmaxShardedMultiCoreProgramConfig(
                compute_with_storage_grid_size=grid, subblock_w=subblock, block_h=height, block_w=width))

        mask = put(numpy.zeros((1, 1, 32, 1024)), ttnn.bfloat16)
        for op, told in ((ttnn.softmax_in_place, {}), (ttnn.scale_mask_softmax_in_place, {"mask": mask}),
                         (ttnn.transformer.attention_softmax_, {"attention_mask": mask})):
            self.near(softmax(op, (8, 7), 1, 32, 8, **told), numpy.full((1, 1, 1792, 1024), 1 / 1024))
            for text, *config in (("divisible by subblock_w", (8, 7), 1, 32, 7),
                                  ("TILE_HEIGHT must be the shard's height: 32", (8, 7), 2, 32, 8),
                                  ("TILE_WIDTH must be the shard's width: 1024", (8, 7), 1, 16, 8),
                                  ("larger than the 8x7 cores", (9, 9), 1, 32, 8)):
                self.refused(text, softmax, op, *config, **told)

    def test_shards_lie_on_cores_of_the_device(self):
        for strategy, shape in ((ttnn.ShardStrategy.HEIGHT, (2048, 64)), (ttnn.ShardStrategy.WIDTH, (32, 2048)),
                                (ttnn.ShardStrategy.BLOCK, (256, 256))):
            x = put(numpy.zeros(shape), ttnn.bfloat16)
            self.refused("No L1 bank exists for core \\(x=7,y=7\\): the device has 8x7 cores",
                         ttnn.to_memory_config, x, sharded(shape, strategy, 8, 8))
            self.assertTrue(ttnn.to_memory_config(x, sharded(shape, strategy, 8, 4)).is_sharded())

    def test_attention_has_cores_of_the_device(self):
        q = put(numpy.zeros((1, 8, 64, 64)), ttnn.bfloat16)

        def config(x, y):
            return ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(x, y), q_chunk_size=32,
                                          k_chunk_size=32)

        attend = ttnn.transformer.scaled_dot_product_attention
        self.assertEqual(attend(q, q, q, program_config=config(8, 7)).shape, q.shape)
        self.refused("9x9 is larger than the 8x7 cores", attend, q, q, q, program_config=config(9, 9))
        one = put(numpy.zeros((1, 1, 8, 64)), ttnn.bfloat16)
        self.refused("8x8 is larger than the 8x7 cores",
                     ttnn.transformer.scaled_dot_product_attention_decode, one, q, q, cur_pos=[3],
                     program_config=config(8, 8))


class RowsTest(ValuesCase):
    def test_a_mask_is_one_row_unless_it_is_causal(self):
        x = put(numpy.zeros((1, 1, 64, 32)), ttnn.bfloat16)
        mask = numpy.zeros((1, 1, 32, 32))
        mask[..., 16:], mask[:, :, 1:] = -1e9, -1e9
        row = numpy.where(numpy.arange(32) < 16, 1 / 16, 0)
        for given in (mask, mask[:, :, :1]):
            made = ttnn.scale_mask_softmax(x, 0.5, put(given, ttnn.bfloat16))
            self.near(made, numpy.broadcast_to(row, (1, 1, 64, 32)))
        causal = numpy.triu(numpy.full((64, 32), -1e9), 1)
        made = ttnn.scale_mask_softmax(x, 1.0, put(causal.reshape(1, 1, 64, 32), ttnn.bfloat16),
                                       is_causal_mask=True)
        self.near(get(made)[0, 0, :2, :3], [[1, 0, 0], [0.5, 0.5, 0]])
        self.refused("with is_causal_mask=True one for each row", ttnn.scale_mask_softmax, x, 1.0,
                     put(numpy.zeros((1, 1, 64, 32))))
        self.refused("mask is not present", ttnn.scale_mask_softmax, x, 0.5)

    def test_row_major_masks_are_rows_folded_into_sticks(self):
        x = put(numpy.zeros((1, 1, 32, 64)), ttnn.bfloat16)
        mask = numpy.zeros((1, 1, 2, 32))
        mask[0, 0, 1] = -1e9
        made = ttnn.scale_mask_softmax_in_place(x, 1.0, put(mask, ttnn.bfloat16, ROWS))
        self.near(made, numpy.broadcast_to([1 / 32] * 32 + [0] * 32, (1, 1, 32, 64)))

    def test_weights_may_be_padded_to_a_tile(self):
        x = put([[3.0, 4, 3, 4] * 8])
        weight = numpy.full((1, 1, 32, 32), 100.0)
        weight[0, 0, 0] = 2
        expected = numpy.tile(numpy.array([3.0, 4, 3, 4]) / math.sqrt(12.5) * 2, (1, 8))
        self.near(ttnn.rms_norm(x, weight=put(weight)), expected)
        self.near(ttnn.rms_norm(x, weight=put(numpy.full((1, 1, 1, 32), 2.0), layout=ROWS)), expected)
        self.refused("weight .* must be a row of 32", ttnn.rms_norm, x, weight=put(numpy.ones((64, 32))))

    def test_batch_norm_updates_the_running_statistics(self):
        x = put(numpy.array([1.0, 3, 5, 7]).reshape(2, 1, 1, 2))
        mean, var = (put(numpy.full((1, 1, 1, 1), v)) for v in (10.0, 20.0))
        made = ttnn.batch_norm(x, running_mean=mean, running_var=var, training=True, momentum=0.5,
                               eps=4.0)
        self.near(made, numpy.array([-1.0, -1 / 3, 1 / 3, 1]).reshape(2, 1, 1, 2))
        self.assertEqual((mean.item(), var.item()), (7, 12.5))
        made = ttnn.batch_norm(x, running_mean=mean, running_var=var, eps=-3.5)
        self.near(made, numpy.array([-2, -4 / 3, -2 / 3, 0]).reshape(2, 1, 1, 2))
        self.refused("must be defined in evaluation mode", ttnn.batch_norm, x)

    def test_group_norm_reads_its_mask_and_its_padded_weights(self):
        x = numpy.arange(2048.0).reshape(1, 1, 32, 64)
        options = {"num_groups": 2, "core_grid": ttnn.CoreGrid(x=1, y=1), "inplace": False}
        plain = get(ttnn.group_norm(put(x), **options))
        grouped = x.reshape(32, 2, 32).transpose(1, 0, 2).reshape(2, -1)
        grouped = (grouped - grouped.mean(1, keepdims=True)) / grouped.std(1, keepdims=True)
        expected = grouped.reshape(2, 32, 32).transpose(1, 0, 2).reshape(1, 1, 32, 64)
        self.near(plain, expected)
        mask = numpy.ones((1, 2, 32, 32))
        self.near(ttnn.group_norm(put(x), input_mask=put(mask), **options), expected)
        mask[0, 1, 0, 3] = 0
        self.refused("input_mask .* with 32 ones", ttnn.group_norm, put(x), input_mask=put(mask),
                     **options)
        # 64 channels on 4 cores are 16 in each row of 32.
        weight = numpy.zeros((1, 1, 4, 32))
        weight[..., :16] = numpy.arange(64.0).reshape(4, 16)
        made = ttnn.group_norm(put(x), weight=put(weight, layout=ROWS), **options)
        self.near(made, expected * numpy.arange(64.0))
        # 120 channels of each of 4 cores fill 4 rows, and so would 240 of two cores fill 8.
        x = numpy.tile(numpy.arange(32.0).reshape(1, 1, 32, 1), (1, 1, 1, 480))
        weight = numpy.zeros((4, 128))
        weight[:, :120] = numpy.arange(480.0).reshape(4, 120)
        config = sharded((32, 120), ttnn.ShardStrategy.BLOCK, 4, use_height_and_width_as_shard_shape=True)
        made = ttnn.group_norm(put(x, layout=ROWS, memory_config=config), num_groups=4, inplace=False,
                               core_grid=ttnn.CoreGrid(x=4, y=1),
                               weight=put(weight.reshape(1, 1, 16, 32), layout=ROWS))
        self.near(made, (x - x.mean()) / x.std() * numpy.arange(480.0))

    def test_group_norm_refuses_what_ttnn_refuses(self):
        x, grid = put(numpy.zeros((1, 1, 32, 64))), ttnn.CoreGrid(x=1, y=1)
        self.refused("Automatic determination", ttnn.group_norm, x, num_groups=2)
        self.refused("inplace=False", ttnn.group_norm, x, num_groups=2, core_grid=grid)
        self.refused("64 channels", ttnn.group_norm, x, num_groups=3, core_grid=grid)
        self.refused("core_grid 1x20 must lie in", ttnn.group_norm, x, num_groups=2,
                     core_grid=ttnn.CoreGrid(x=1, y=20))
        rows = put(numpy.ones((1, 1, 32, 64)), layout=ROWS)
        made = ttnn.group_norm(rows, num_groups=2, core_grid=grid)
        self.assertEqual(made.buffer_address(), rows.buffer_address())

    def test_statistics_of_shards_are_means_with_the_residual(self):
        x = put(numpy.full((1, 1, 32, 64), 2.0), ttnn.bfloat16)
        self.assertEqual(get(ttnn.rms_norm_pre_all_gather(x))[0, 0, 0, :2].tolist(), [256, 0])
        both = get(ttnn.layer_norm_pre_all_gather(x, residual_input_tensor=x))
        self.assertEqual(both[0, 0, 0, [0, 32]].tolist(), [256, 128])
        config = sharded([1, 1, 32, 64], ttnn.ShardStrategy.WIDTH, x=2)
        x, r = (ttnn.to_memory_config(x, config) for _ in range(2))
        made = ttnn.layer_norm_pre_all_gather(x, residual_input_tensor=r)
        self.assertEqual(get(made)[0, 0, 0, [0, 32]].tolist(), [4, 16])
        self.assertEqual(get(x)[0, 0, 0, 0], 4)
        y = put(numpy.array([1.0, 3] * 1024).reshape(1, 1, 32, 64), memory_config=config)
        stats = ttnn.rms_norm_pre_all_gather(y, dtype=ttnn.float32)
        made = ttnn.rms_norm_post_all_gather(y, stats)
        self.near(get(made)[0, 0, 0, :2], [1 / math.sqrt(5), 3 / math.sqrt(5)])


class HeadsTest(ValuesCase):
    def columns(self, *owners):
        """Returns rows whose columns, 32 for each owner, have the owner's number."""
        return put(numpy.tile(numpy.repeat(numpy.array(owners, float), 32), (1, 1, 32, 1)))

    def owners(self, heads):
        return [get(one)[0, :, 0, 0].tolist() for one in heads]

    def test_queries_lie_beside_their_keys_in_create_qkv_heads(self):
        x = self.columns(1, 2, 10, 20, 3, 4, 11, 21)
        made = ttnn.experimental.create_qkv_heads(x, num_heads=4, num_kv_heads=2)
        self.assertEqual(self.owners(made), [[1, 2, 3, 4], [10, 11], [20, 21]])
        x = self.columns(1, 2, 3, 4, 10, 11, 20, 21)
        made = ttnn.experimental.nlp_create_qkv_heads(x, num_heads=4, num_kv_heads=2)
        self.assertEqual(self.owners(made), [[1, 2, 3, 4], [10, 11], [20, 21]])

    def test_keys_lie_beside_their_values_in_a_tensor_of_their_own(self):
        q, kv = self.columns(1, 2), self.columns(10, 20, 11, 21)
        made = ttnn.experimental.create_qkv_heads_from_separate_tensors(
            q, kv, num_heads=2, num_kv_heads=2)
        self.assertEqual(self.owners(made), [[1, 2], [10, 11], [20, 21]])
        made = ttnn.experimental.nlp_create_qkv_heads(q, self.columns(10, 11, 20, 21), num_heads=2)
        self.assertEqual(self.owners(made), [[1, 2], [10, 11], [20, 21]])

    def test_results_are_written_to_the_given_tensors(self):
        given = [put(numpy.zeros((1, 1, 32, 32))) for _ in range(3)]
        ttnn.experimental.nlp_create_qkv_heads(self.columns(1, 2, 3), num_heads=1,
                                               transpose_k_heads=False, output_tensors=given)
        self.assertEqual(self.owners(given), [[1], [2], [3]])
        self.refused("an output tensor has", ttnn.experimental.nlp_create_qkv_heads,
                     self.columns(1, 2, 3), num_heads=1, output_tensors=[self.columns(1, 2)] * 3)

    def test_some_users_of_a_decoding_step(self):
        x = put(numpy.tile(numpy.arange(32.0).reshape(1, 1, 32, 1), (1, 1, 1, 96)))
        made = ttnn.experimental.nlp_create_qkv_heads_decode(
            x, num_heads=1, batch_offset=put([8], ttnn.uint32, ROWS), slice_size=4)
        self.assertEqual(get(made[0])[0, :, 0, 0].tolist(), [8, 9, 10, 11])
        self.refused("given together", ttnn.experimental.nlp_create_qkv_heads_decode, x, num_heads=1,
                     slice_size=4)


class RotaryTest(ValuesCase):
    def test_the_heads_of_a_step_have_the_angles_of_the_first_row(self):
        x, cos, sin = numpy.random.default_rng(3).normal(size=(3, 1, 2, 32, 64))
        turn = numpy.zeros((32, 32))
        turn[range(1, 32, 2), range(0, 32, 2)], turn[range(0, 32, 2), range(1, 32, 2)] = -1, 1
        pairs = x.reshape(1, 2, 32, 32, 2)
        turned = numpy.stack([-pairs[..., 1], pairs[..., 0]], -1).reshape(x.shape)
        whole = [put(one) for one in (x[:, :, :8], cos, sin, turn.reshape(1, 1, 32, 32))]
        made = ttnn.experimental.rotary_embedding_llama(*whole, is_decode_mode=True)
        self.near(made, x[:, :, :8] * cos[:, :, :1] + turned[:, :, :8] * sin[:, :, :1], 1e-4)


class AttentionTest(ValuesCase):
    """Scores are zeros and values the places of their keys: results are the mean of those seen."""

    def setUp(self):
        self.zeros = put(numpy.zeros((1, 2, 32, 32)))
        self.places = put(numpy.tile(numpy.arange(32.0).reshape(1, 1, 32, 1), (1, 2, 1, 32)))

    def seen(self, **options):
        made = ttnn.transformer.scaled_dot_product_attention(self.zeros, self.zeros, self.places,
                                                             **options)
        return get(made)[0, 0, :, 0]

    def test_windows(self):
        self.near(self.seen(sliding_window_size=4)[[0, 2, 10]], [0, 1, 8.5])
        self.near(self.seen(sliding_window_size=4, is_causal=False)[[0, 1, 10]], [1, 1.5, 10])

    def test_a_sink_takes_a_share_of_each_head(self):
        sink = put(numpy.array([0.0, -1000]).reshape(1, 2, 1, 1), ttnn.bfloat16)
        self.near(self.seen(attention_sink=sink)[[0, 1, 3]], [0, 1 / 3, 6 / 5])
        half = put(numpy.full((1, 2, 1, 1), 2 * math.log(3)), ttnn.float32)
        self.near(self.seen(attention_sink=half, scale=0.5)[1], 1 / 5)
        self.refused("attention_sink .* must be", self.seen, attention_sink=self.zeros)

    def test_a_decoding_step_sees_its_window_and_its_sink(self):
        decode, q = ttnn.transformer.scaled_dot_product_attention_decode, put(numpy.zeros((1, 2, 2, 32)))
        keys = put(numpy.zeros((2, 2, 32, 32)))
        held = put(numpy.tile(numpy.arange(32.0).reshape(1, 1, 32, 1), (2, 2, 1, 32)))

        def step(**options):
            return get(decode(q, keys, held, **options))[0, :, 0, 0]

        self.near(step(cur_pos=[9, -1]), [4.5, 0])
        self.near(step(cur_pos=[9, 1], sliding_window_size=4), [7.5, 0.5])
        self.near(step(cur_pos_tensor=ints(9, 1), sliding_window_size=4), [7.5, 0.5])
        sink = put(numpy.zeros((32, 32)), ttnn.bfloat16)
        self.near(step(cur_pos=[9, 1], attention_sink=sink), [45 / 11, 1 / 3])
        table = put([[0], [1]], ttnn.int32, ROWS)
        made = ttnn.transformer.paged_scaled_dot_product_attention_decode(
            q, keys, held, table, cur_pos_tensor=ints(9, 1), sliding_window_size=4)
        self.near(get(made)[0, :, 0, 0], [7.5, 0.5])

    def test_attention_of_parts_is_attention_of_all_rows(self):
        numbers = numpy.random.default_rng(5).standard_normal((3, 1, 4, 96, 32))
        q, (k, v) = put(numbers[0]), (put(one[:, :2]) for one in numbers[1:])
        attend, most = ttnn.transformer.scaled_dot_product_attention, transformer._MOST_SCORES
        for told in ({}, {"is_causal": False}, {"sliding_window_size": 20},
                     {"is_causal": False, "attn_mask": put(numbers[:1, 0, :1, :, :1] + numpy.zeros(96))}):
            whole = get(attend(q, k, v, **told))
            transformer._MOST_SCORES = 1  # One row of tiles at a time.
            self.near(attend(q, k, v, **told), whole)
            transformer._MOST_SCORES = most
        scores = numbers[0] @ numpy.repeat(numbers[1, :, :2], 2, 1).swapaxes(2, 3) / math.sqrt(32)
        shares = numpy.exp(scores + numpy.triu(numpy.full((96, 96), -1e9), 1))
        shares /= shares.sum(-1, keepdims=True)
        self.near(attend(q, k, v), shares @ numpy.repeat(numbers[2, :, :2], 2, 1))

    def test_causal_masks_of_attention_have_a_row_for_each_query(self):
        mask = numpy.triu(numpy.full((64, 64), -1e9), 1).reshape(1, 1, 64, 64)
        x = put(numpy.zeros((1, 1, 64, 64)), ttnn.bfloat16)
        made = ttnn.transformer.attention_softmax(x, attention_mask=put(mask), causal_mask=True)
        self.near(get(made)[0, 0, 1, :3], [0.5, 0.5, 0])
        self.refused("needs an attention_mask", ttnn.transformer.attention_softmax_, x)

    def test_joint_attention_refuses_another_order(self):
        x = self.zeros
        with self.assertRaisesRegex(RuntimeError, "joint_strategy='front' is not computed"):
            ttnn.transformer.joint_scaled_dot_product_attention(x, x, x, x, x, x, joint_strategy="front")


class MorehTest(ValuesCase):
    def test_amsgrad_divides_by_the_largest_variance(self):
        p, g, m, v, most = (put([[n]]) for n in (1.0, 2.0, 0.0, 0.0, 16.0))
        made = ttnn.moreh_adam(p, g, m, v, lr=0.5, beta1=0.5, beta2=0.5, eps=0.0, step=1, amsgrad=True,
                               max_exp_avg_sq_in=most)
        self.assertEqual([one.item() for one in made[1:]], [1, 2, 16])
        self.near(made[0], [[1 - 0.5 * 2 / math.sqrt(32)]])
        made = ttnn.moreh_adam(p, g, m, v, lr=0.5, beta1=0.5, beta2=0.5, eps=0.0, step=1)
        self.near(made[0], [[0.5]])
        self.assertIsNone(made[3])
        self.refused("must be given together", ttnn.moreh_adam, p, g, m, v, amsgrad=True)
        self.near(ttnn.moreh_adamw(p, put([[0.0]]), m, v, lr=1.0, step=1, eps=1.0)[0], [[0.99]])

    def test_several_last_dimensions_are_normalised_together(self):
        x = put(numpy.array([1.0, 3, 5, 7]).reshape(1, 2, 2))
        mean, rstd = put([0.0]), put([0.0])
        made = ttnn.moreh_layer_norm(x, 2, 0.0, mean=mean, rstd=rstd)
        self.near(made[0], numpy.array([-3, -1, 1, 3]).reshape(1, 2, 2) / math.sqrt(5))
        self.near([mean.item(), rstd.item()], [4, 1 / math.sqrt(5)])
        self.assertEqual(ttnn.moreh_layer_norm(x, 1)[1:], [None, None])
        self.refused("must be 1 to 3", ttnn.moreh_layer_norm, x, 4)
        grad = ttnn.moreh_layer_norm_backward(x, x, mean, rstd, 2)[0]
        self.near(grad, numpy.zeros((1, 2, 2)), 1e-6)

    def test_norms_count_and_choose(self):
        x = put([[-3.0, 0.0], [2.0, 1.0]])
        for p, expected in ((0, [[1], [2]]), (math.inf, [[3], [2]]), (-math.inf, [[0], [1]])):
            self.near(ttnn.moreh_norm(x, p, 1, True), expected)
        self.near(ttnn.moreh_norm(x, 2.0, 1), [3, math.sqrt(5)])

    def test_the_divisor_of_a_mean_loss_is_given(self):
        logs, target = put([[-1.0, -2.0], [-3.0, -4.0]]), ints(1, 0, layout=TILE)
        weight, divisor = put([1.0, 3.0]), put([0.0])
        made = ttnn.moreh_nll_loss(logs, target, "mean", weight_tensor=weight, divisor_tensor=divisor)
        self.near([made.item(), divisor.item()], [9 / 4, 4])
        self.refused("must not be empty", ttnn.moreh_nll_loss, logs, target, "mean")

    def test_arguments_of_reductions_and_norms(self):
        x = put([[3.0, 4.0]])
        self.refused("divisor not supported yet", ttnn.moreh_mean, x, dim=1, divisor=2)
        self.near(ttnn.moreh_mean_backward(put([[2.0]]), dim=1, input_grad_shape=[1, 2]), [[1, 1]])
        self.refused("must be known", ttnn.moreh_mean_backward, put([2.0]), dim=1)
        total = put([0.0])
        ttnn.moreh_clip_grad_norm([x], 1.0, total_norm=total)
        self.near(x, [[0.6, 0.8]])
        self.refused("non-finite", ttnn.moreh_clip_grad_norm, [put([[math.inf]])], 1.0, 2.0, True)
        out = put([0.0, 0.0])
        self.assertIs(ttnn.moreh_arange(3, 7, 2, output=out), out)
        self.near(out, [3, 5])
        self.assertEqual(ttnn.moreh_arange(0, 4, 1, device, untilize_out=True).layout, ROWS)


class ShardsTest(unittest.TestCase):
    def shard(self, *args, **kwargs):
        return ttnn.create_sharded_memory_config(*args, **kwargs).shard_spec.shape

    def test_shards_of_both_orders(self):
        grid, down = ttnn.CoreGrid(x=2, y=4), ttnn.ShardOrientation.COL_MAJOR
        strategy = ttnn.ShardStrategy
        self.assertEqual(self.shard([2, 64, 32], grid, strategy.BLOCK), [32, 16])
        self.assertEqual(self.shard([2, 64, 32], grid, strategy.BLOCK, down), [64, 8])
        self.assertEqual(self.shard([2, 64, 32], grid, strategy.HEIGHT, down), [16, 32])
        for order, expected in ((None, [64, 32]), (down, [32, 64])):
            self.assertEqual(self.shard([2, 64, 32], grid, strategy.HEIGHT, order,
                                        use_height_and_width_as_shard_shape=True), expected)
        two = [ttnn.CoreGrid(x=8, y=1), ttnn.CoreGrid(x=3, y=1)]
        made = ttnn.create_sharded_memory_config([32, 32], two, strategy.HEIGHT,
                                                 use_height_and_width_as_shard_shape=True)
        self.assertEqual(made.shard_spec.grid.num_cores(), 11)

    def test_what_is_no_shape_or_grid_is_refused(self):
        grid, strategy = ttnn.CoreGrid(x=2, y=4), ttnn.ShardStrategy.HEIGHT
        for args, text in (((3, grid, strategy), "Invalid input shape"),
                           (([8, 8], 3, strategy), "Invalid core_grid type"),
                           (([8, 8], grid, "rows"), "Invalid sharding strategy"),
                           (([8, 8], grid, strategy, "down"), "Invalid shard orientation"),
                           (([9, 8], grid, strategy), "Invalid sharding core_grid")):
            with self.assertRaisesRegex(RuntimeError, text):
                self.shard(*args)

    def test_shards_that_are_rounded_up(self):
        rows, block = ttnn.ShardOrientation.ROW_MAJOR, ttnn.TensorMemoryLayout.BLOCK_SHARDED
        cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (2, 0)), ttnn.CoreRange((0, 1), (0, 1))])

        def shard(*args, **kwargs):
            return ttnn.create_sharded_memory_config_(*args, **kwargs).shard_spec.shape

        self.assertEqual(shard([10, 32], cores, ttnn.ShardStrategy.HEIGHT, rows), [3, 32])
        self.assertEqual(shard([100, 64], ttnn.CoreGrid(x=2, y=2), block, rows, tile_layout=True), [64, 32])
        with self.assertRaisesRegex(RuntimeError, "no rectangle"):
            shard([64, 64], cores, block, rows)
        with self.assertRaisesRegex(RuntimeError, "Invalid type of shard orientation"):
            shard([64, 64], cores, block, None)


class MeshTest(ValuesCase):
    @classmethod
    def setUpClass(cls):
        cls.mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 2))
        cls.addClassCleanup(ttnn.close_mesh_device, cls.mesh)

    def spread(self, *numbers):
        """Returns a tensor that has one of the numbers on each device."""
        rows = numpy.repeat(numpy.array(numbers, numpy.float32), 32 * 32).reshape(-1, 32)
        return ttnn.from_torch(rows, dtype=ttnn.float32, layout=TILE, device=self.mesh,
                               mesh_mapper=ttnn.ShardTensorToMesh(self.mesh, 0))

    def shards(self, tensor):
        return [get(one)[0, 0] for one in ttnn.get_device_tensors(tensor)]

    def test_a_mesh_begins_at_its_offset(self):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), offset=ttnn.MeshCoordinate(0, 4))
        self.addCleanup(ttnn.close_mesh_device, mesh)
        self.assertEqual(mesh.get_device_ids(), [4, 5])

    def test_a_broadcast_along_an_axis_stays_in_its_lines(self):
        x, at = self.spread(1, 2, 3, 4), ttnn.MeshCoordinate(1, 0)
        self.assertEqual(self.shards(ttnn.broadcast(x, at)), [3] * 4)
        self.assertEqual(self.shards(ttnn.broadcast(x, at, cluster_axis=1)), [1, 1, 3, 3])
        self.assertEqual(self.shards(ttnn.broadcast(x, at, cluster_axis=0)), [3, 4, 3, 4])

    def test_sums_leave_the_buffer_of_what_is_on_its_way(self):
        x, way = self.spread(1, 2, 3, 4), self.spread(0, 0, 0, 0)
        made = ttnn.experimental.all_reduce_async(x, buffer_tensor=way, cluster_axis=1, num_links=1)
        self.assertEqual((self.shards(made), self.shards(way)), ([3, 3, 7, 7], [0] * 4))
        made = ttnn.all_reduce(x, dtype=ttnn.bfloat16)
        self.assertEqual((self.shards(made), made.dtype), ([10] * 4, ttnn.bfloat16))
        self.refused("math_op=.* is not computed", ttnn.all_reduce, x, math_op=ttnn.ReduceType.Max)
        with self.assertRaises(TypeError):
            ttnn.all_gather(x, 0, colour=1)

    def test_each_device_drops_others_unless_it_is_told_not_to(self):
        x, told = self.spread(1, 1, 1, 1), {"probability": 0.5, "scale": 1.0, "seed": 3}
        made = [[get(one).tolist() for one in ttnn.get_device_tensors(ttnn.experimental.dropout(
            x, use_per_device_seed=each, **told))] for each in (True, False)]
        self.assertNotEqual(made[0][0], made[0][1])
        self.assertEqual(made[1][0], made[1][1])


if __name__ == "__main__":
    unittest.main()
