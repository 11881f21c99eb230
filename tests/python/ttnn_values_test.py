# SPDX-License-Identifier: Apache-2.0
"""What ops of the stand-in for ttnn give for each of their arguments, against numbers that PyTorch or
ttnn give."""

import math
import tempfile
import unittest

import numpy

import howard.ttnn as ttnn

TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
device = ttnn.open_device(device_id=0)


def put(values, dtype=ttnn.float32, layout=TILE, **options):
    return ttnn.from_torch(numpy.asarray(values), dtype=dtype, layout=layout, device=device, **options)


def ints(*values, layout=ROWS, dtype=ttnn.int32):
    return put(numpy.array(values, numpy.int32), dtype, layout)


def get(tensor):
    return tensor.to_numpy()


def sharded(shape, strategy, x=1, y=1, **options):
    return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(x=x, y=y), strategy, **options)


class ValuesTest(unittest.TestCase):
    def near(self, found, expected, tolerance=1e-5):
        found = get(found) if isinstance(found, ttnn.Tensor) else numpy.asarray(found)
        expected = numpy.asarray(expected, float)
        self.assertEqual(found.shape, expected.shape)
        self.assertTrue(numpy.allclose(found, expected, tolerance, tolerance, equal_nan=True),
                        f"{found.ravel()[:8]} is not {expected.ravel()[:8]}")

    def refused(self, text, call, *args, **kwargs):
        with self.assertRaisesRegex(RuntimeError, text):
            call(*args, **kwargs)


class PlacesTest(ValuesTest):
    def test_scatter_combines_with_what_is_there(self):
        x, src = put([[2.0, 3, 4, 5]], layout=ROWS), put([[10.0, 20, 30]], layout=ROWS)
        index = ints([0, 0, 2])
        for reduce, expected in (("add", [[32, 3, 34, 5]]), ("multiply", [[400, 3, 120, 5]]),
                                 ("amax", [[20, 3, 30, 5]]), ("amin", [[2, 3, 4, 5]])):
            self.near(ttnn.scatter(x, -1, index, src, reduce=reduce), expected)
        self.near(ttnn.scatter_add(x, -1, index, src), [[32, 3, 34, 5]])
        self.refused("reduce must be either", ttnn.scatter, x, -1, index, src, reduce="mean")

    def test_an_index_may_be_smaller_than_the_source(self):
        x, src = put(numpy.zeros(6), layout=ROWS), put([1.0, 2, 3, 4], layout=ROWS)
        self.near(ttnn.scatter(x, 0, ints(5, 1), src), [0, 2, 0, 0, 0, 1])

    def test_what_scatter_does_on_the_chip_depends_on_dimension_and_size(self):
        def programs(x, dim, index, src):
            device.disable_and_clear_program_cache()
            device.enable_program_cache()
            ttnn.scatter(x, dim, index, src)
            return device.num_program_cache_entries()

        x, index = (put(numpy.zeros((4, 8)), kind, ROWS) for kind in (ttnn.float32, ttnn.uint32))
        self.assertEqual(programs(x, 1, index, x), 1)
        self.assertEqual(programs(x, 0, index, x), 4)
        self.assertEqual(programs(x, 1, ints([0, 1]), x), 2)
        tiles = put(numpy.zeros((4, 8)), ttnn.bfloat16)
        self.assertEqual(programs(tiles, 1, ttnn.to_layout(index, TILE), tiles), 4)

    def test_programs_of_other_types_are_other_programs(self):
        device.disable_and_clear_program_cache()
        device.enable_program_cache()
        for kind in (ttnn.int32, ttnn.float32):
            ttnn.typecast(put(numpy.zeros((32, 32)), kind), ttnn.bfloat16)
        self.assertEqual(device.num_program_cache_entries(), 2)

    def test_scatter_refuses_what_ttnn_refuses(self):
        x = put(numpy.zeros((2, 4)))
        self.refused("doesn't work for fp32 tiled", ttnn.scatter, x, 0, ints([0, 0, 0, 0]), x)
        rows = put(numpy.zeros((2, 4)), layout=ROWS)
        self.refused("must have one rank", ttnn.scatter, rows, 0, ints(0), rows)
        self.refused("must be the same", ttnn.scatter, rows, 0, ints([0]),
                     put([[1.0]], ttnn.bfloat16, ROWS))

    def test_embedding_drops_the_middle_dimensions(self):
        table = put(numpy.arange(12.0).reshape(6, 2), ttnn.bfloat16, ROWS)
        made = ttnn.embedding(put([[[[1, 5]]]], ttnn.uint32, ROWS), table)
        self.near(made, [[[2, 3], [10, 11]]])
        self.assertEqual(list(ttnn.embedding(put([3, 4], ttnn.uint32, ROWS), table).shape), [2, 2])
        self.refused("must be 1", ttnn.embedding, put([[[1], [5]]], ttnn.uint32, ROWS), table)
        one = put([3], ttnn.uint32, ROWS)
        self.refused("Can only typecast", ttnn.embedding, one, table, dtype=ttnn.float32)
        self.assertEqual(ttnn.embedding(one, ttnn.to_layout(table, TILE)).layout, TILE)

    def test_squeeze_names_each_dimension_once(self):
        x = put(numpy.zeros((1, 3, 1)))
        self.assertEqual(list(ttnn.squeeze(x, [0, 1, -1]).shape), [3])
        self.refused("Dimension out of range .*\\[-3,2\\]", ttnn.squeeze, x, 3)
        self.refused("appears multiple times", ttnn.squeeze, x, [0, -3])

    def test_convert_to_hwc_fills_rows_of_16_bytes(self):
        x = numpy.arange(1.0, 13).reshape(1, 2, 3, 2)
        made = ttnn.experimental.convert_to_hwc(put(x, ttnn.bfloat16, ROWS))
        self.near(made[:, :, :, :3], [[[[1, 3, 5], [2, 4, 6], [7, 9, 11], [8, 10, 12]]]])
        self.assertEqual(list(made.shape), [1, 1, 4, 8])
        self.near(made[:, :, :, 3:], numpy.zeros((1, 1, 4, 5)))
        self.refused("more than 32", ttnn.experimental.convert_to_hwc,
                     put(numpy.zeros((1, 1, 33, 2)), ttnn.bfloat16, ROWS))

    def test_concat_by_groups(self):
        config = sharded([1, 1, 32, 4], ttnn.ShardStrategy.HEIGHT)
        a = numpy.tile([0.0, 1, 2, 3], (1, 1, 32, 1))
        parts = [put(one, ttnn.bfloat16, ROWS, memory_config=config) for one in (a, a + 10)]
        out = sharded([1, 1, 32, 8], ttnn.ShardStrategy.HEIGHT)
        made = ttnn.concat(parts, 3, memory_config=out, groups=2)
        self.assertEqual(get(made)[0, 0, 0].tolist(), [0, 1, 10, 11, 2, 3, 12, 13])
        flat = [put(a, ttnn.bfloat16, ROWS)] * 2
        self.refused("only supported on height-sharded", ttnn.concat, flat, 3, groups=2)

    def test_a_move_between_shards_writes_the_given_output(self):
        one, two = (sharded([1, 1, 64, 32], ttnn.ShardStrategy.HEIGHT, y=n) for n in (1, 2))
        x = numpy.arange(2048.0).reshape(1, 1, 64, 32)
        for move in (ttnn.reshard, lambda t, c, out: ttnn.to_memory_config(t, c, output_tensor=out)):
            out = put(numpy.zeros((1, 1, 64, 32)), memory_config=two)
            made = move(put(x, memory_config=one), two, out)
            self.assertEqual(made.buffer_address(), out.buffer_address())
            self.near(out, x)


class CachesTest(ValuesTest):
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


class RowsTest(ValuesTest):
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

    def test_group_norm_refuses_what_ttnn_refuses(self):
        x, grid = put(numpy.zeros((1, 1, 32, 64))), ttnn.CoreGrid(x=1, y=1)
        self.refused("Automatic determination", ttnn.group_norm, x, num_groups=2)
        self.refused("inplace=False", ttnn.group_norm, x, num_groups=2, core_grid=grid)
        self.refused("64 channels", ttnn.group_norm, x, num_groups=3, core_grid=grid)
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


class HeadsTest(ValuesTest):
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


class AttentionTest(ValuesTest):
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


class ElementsTest(ValuesTest):
    def test_quotients_are_rounded_as_asked(self):
        a, b = put([[7.0, -7.0]]), put([[2.0, 2.0]])
        self.near(ttnn.div(a, b, round_mode="floor"), [[3, -4]])
        self.near(ttnn.div(a, b, round_mode="trunc"), [[3, -3]])
        self.near(ttnn.rdiv(b, 7.0, round_mode="floor"), [[3, 3]])
        self.refused("Incorrect rounding mode", ttnn.div, a, b, round_mode="up")
        made = ttnn.div(ints([7, -7], layout=TILE), ints([2, 2], layout=TILE))
        self.assertEqual((get(made).tolist(), made.dtype), ([[3.5, -3.5]], ttnn.float32))
        with self.assertRaisesRegex(TypeError, "a rounding mode of add"):
            ttnn.add(a, b, round_mode="floor")

    def test_shifts_out_of_range_give_0(self):
        x, by = ints([99, 100, -100, 12, 1000, 7], layout=TILE), ints([1, 31, -20, -3, 40, 32], layout=TILE)
        self.assertEqual(get(ttnn.bitwise_left_shift(x, by)).tolist(), [[198, 0, 0, 0, 0, 0]])
        x, by = ints([-1, 5, 2**31 - 1, -8, 16], layout=TILE), ints([31, 40, 1, 1, -2], layout=TILE)
        self.assertEqual(get(ttnn.logical_right_shift(x, by)).tolist(),
                         [[1, 0, 1073741823, 2147483644, 0]])

    def test_clamp_needs_a_bound(self):
        x = put([[3.0, 9.0]])
        self.refused("Please provide at least one value", ttnn.clamp, x, None, None)
        self.near(ttnn.clamp(x, put([[5.0, 5.0]]), put([[1.0, 1.0]])), [[1, 1]])
        self.near(ttnn.clip(x, None, 4), [[3, 4]])

    def test_isclose_replaces_nan_as_ttnn_does(self):
        x, y = put([[math.nan, math.nan, 1.0]]), put([[math.nan, 1.0, 1.0]])
        self.near(ttnn.isclose(x, y), [[0, 1, 1]])
        self.near(ttnn.isclose(x, y, equal_nan=True), [[0, 0, 1]])

    def test_activations_have_parameters(self):
        x, kind = put([[-1.0, 2.0]]), ttnn.UnaryOpType
        for activation, expected in (
                (ttnn.UnaryWithParam(kind.POWER, 3.0), [[-8, 64]]), ("elu", [[math.expm1(-2), 4]]),
                (ttnn.UnaryWithParam(kind.ADD_UNARY_SFPU, 0.5), [[-1.5, 4.5]]),
                (ttnn.UnaryWithParam(kind.LEAKY_RELU, 0.5), [[-1, 4]]),
                (ttnn.UnaryWithParam(kind.RSUB, 1.0), [[3, -3]])):
            self.near(ttnn.add(x, x, activations=[activation]), expected)

    def test_words_of_a_unary_function(self):
        x = put([[1.0]])
        self.near(ttnn.exp(x, fast_and_approximate_mode=True, queue_id=0, sub_core_grids=None),
                  [[math.e]])
        for wrong in ({"nonsense": 1}, {"dtype": ttnn.float32}):
            with self.assertRaisesRegex(TypeError, "incompatible function arguments"):
                ttnn.exp(x, **wrong)
        with self.assertRaises(TypeError):
            ttnn.relu(x, 3)

    def test_an_error_of_the_scripts_own_is_not_reworded(self):
        def preprocess(_):
            return {}["absent"]

        with self.assertRaises(KeyError):
            ttnn.as_tensor(numpy.ones(2), preprocess=preprocess)

    def test_gradients_choose_and_do_not_multiply(self):
        x, g = put([[100.0, -1.0]]), put([[2.0, 2.0]])
        self.near(ttnn.elu_bw(g, x)[0], [[2, 2 / math.e]])
        self.near(ttnn.celu_bw(g, x, alpha=2.0)[0], [[2, 2 * math.exp(-0.5)]])
        self.near(ttnn.softplus_bw(g, x, beta=1.0, threshold=20.0)[0], [[2, 2 / (1 + math.e)]])
        self.near(ttnn.gelu_bw(g, put([[1.0, 0.0]]), approximate="tanh")[0], [[2.165926, 1]], 1e-4)

    def test_gradients_of_quotients(self):
        g, x, zero = put([[1.0, 0.0, -2.0]]), put([[3.0, 1.0, 0.0]]), put([[0.0, 0.0, -0.0]])
        first, second = ttnn.div_bw(g, x, zero)
        inf, nan = math.inf, math.nan
        self.near(first, [[inf, nan, -inf]])
        self.near(second, [[-inf, nan, nan]])
        for mode in ("trunc", "floor"):
            for one in ttnn.div_bw(g, x, x, round_mode=mode):
                self.near(one, [[0, 0, 0]])
        self.refused("Incorrect rounding mode", ttnn.div_bw, g, x, x, round_mode="up")
        self.near(ttnn.rdiv_bw(put([[1.0]]), put([[2.0]]), 3.0, round_mode="floor")[0], [[0]])

    def test_gradients_that_are_not_required_are_none(self):
        x = put([[1.0, 2.0]])
        for made in (ttnn.mul_bw(x, x, x, are_required_outputs=[False, True]),
                     ttnn.where_bw(x, x, x, x, are_required_outputs=[False, True]),
                     ttnn.concat_bw(put([[1.0] * 4]), x, x, 1, are_required_outputs=[False, True])):
            self.assertIsNone(made[0])
            self.assertIsNotNone(made[1])
        grad = put([[0.0, 0.0]])
        ttnn.where_bw(x, put([[1.0, 0.0]]), x, x, other_grad=grad)
        self.near(grad, [[0, 2]])
        with self.assertRaisesRegex(TypeError, "exp_bw.*incompatible"):
            ttnn.exp_bw(x, x, alpha=1.0)


class MorehTest(ValuesTest):
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


class PrintingTest(ValuesTest):
    def tearDown(self):
        ttnn.set_printoptions()

    def text(self, values, *types):
        return repr(put(values, *types)).split(", shape=")[0]

    def test_numbers_have_ttnns_widths(self):
        self.assertEqual(repr(put([[1, -2.5, 0.25], [0, 4, 8]], layout=ROWS)),
                         "ttnn.Tensor([[ 1.0000, -2.5000,  0.2500],\n"
                         "             [ 0.0000,  4.0000,  8.0000]], shape=Shape([2, 3]), "
                         "dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)")
        self.assertEqual(self.text(range(1, 7), ttnn.int32),
                         "ttnn.Tensor([    1,     2,  ...,     5,     6]")
        self.assertEqual(self.text([4294967295], ttnn.uint32, ROWS), "ttnn.Tensor([4294967295]")
        self.assertEqual(repr(put(1.0, ttnn.bfloat16)),
                         "ttnn.Tensor( 1.0000, shape=Shape([]), dtype=DataType::BFLOAT16, "
                         "layout=Layout::TILE)")
        self.assertEqual(self.text(numpy.zeros((2, 0))), "ttnn.Tensor([[],\n             []]")

    def test_numbers_that_are_far_apart_have_powers_of_ten(self):
        self.assertEqual(self.text([[[1.0, 2e-5]], [[3, 4]]]),
                         "ttnn.Tensor([[[ 1.0000e+00,  2.0000e-05]],\n\n"
                         "             [[ 3.0000e+00,  4.0000e+00]]]")
        self.assertEqual(self.text([1.0, 1000, 0, math.inf, math.nan][:2]),
                         "ttnn.Tensor([ 1.0000, 1000.0000]")
        ttnn.set_printoptions(sci_mode=True, precision=1)
        self.assertEqual(self.text([1.0]), "ttnn.Tensor([ 1.0e+00]")
        self.assertEqual(self.text([1], ttnn.int32), "ttnn.Tensor([    1]")

    def test_profiles(self):
        rows = numpy.arange(10).reshape(5, 2)
        self.assertEqual(self.text(rows), "ttnn.Tensor([[ 0.0000,  1.0000],\n"
                         "             [ 2.0000,  3.0000],\n             ...,\n"
                         "             [ 6.0000,  7.0000],\n             [ 8.0000,  9.0000]]")
        ttnn.set_printoptions(profile="full")
        self.assertNotIn("...", self.text(rows))
        ttnn.set_printoptions(profile="EMPTY")
        self.assertEqual(self.text(rows), "ttnn.Tensor(...")
        freed = put([1.0])
        ttnn.deallocate(freed)
        self.assertIn("<buffer is not allocated>", repr(freed))
        self.refused("there is no profile", ttnn.set_printoptions, profile="long")
        for wrong in ({"sci_mode": "yes"}, {"precision": -1}):
            with self.assertRaises(ValueError):
                ttnn.set_printoptions(**wrong)


class TensorsTest(ValuesTest):
    def test_uint32_is_unsigned_but_for_numpy(self):
        x = put([4294967295], ttnn.uint32, ROWS)
        self.assertEqual((x.item(), x.to_list(), get(x).tolist()), (4294967295, [4294967295], [-1]))
        self.assertEqual(get(put([60000], ttnn.uint16, ROWS)).dtype, numpy.int16)

    def test_large_whole_numbers_keep_their_sign_and_their_digits(self):
        x, y = put([[4294967295, 2147483648]], ttnn.uint32), put([[1, 2]], ttnn.uint32)
        self.near(ttnn.typecast(x, ttnn.float32), [[4294967296, 2147483648]])
        self.assertEqual(ttnn.gt(x, y).to_list(), [[1, 1]])
        self.assertEqual(ttnn.maximum(x, y).to_list(), [[4294967295, 2147483648]])
        self.assertEqual(ttnn.sub(y, x).to_list(), [[2, 2147483650]])
        self.assertEqual(ttnn.bitwise_xor(x, y).to_list(), [[4294967294, 2147483650]])
        self.assertEqual(ttnn.bitwise_and(x, y).to_list(), [[1, 0]])
        self.assertEqual(ttnn.Tensor([16777217], [1], ttnn.int32, ROWS).to_list(), [16777217])
        self.assertEqual(ttnn.max(x, -1).to_list(), [4294967295])

    def test_tiles_have_two_dimensions_at_least(self):
        self.assertEqual(list(put(numpy.zeros(30)).padded_shape), [32, 32])
        self.assertEqual(list(put(1.0).padded_shape), [32, 32])
        self.assertEqual(list(put(numpy.zeros(30), layout=ROWS).padded_shape), [30])

    def test_padding_is_no_part_of_the_shape(self):
        x = ttnn.Tensor(numpy.arange(6.0, dtype=numpy.float32).reshape(1, 1, 2, 3), ttnn.float32)
        made = x.pad_to_tile(7)
        self.assertEqual((list(made.shape), list(made.padded_shape)), ([1, 1, 2, 3], [1, 1, 32, 32]))
        self.assertEqual(list(made.to(TILE).shape), [1, 1, 2, 3])
        cut = made.unpad([0, 0, 1, 1], [1, 1, 3, 4])
        self.near(cut, [[[[4, 5, 7], [7, 7, 7]]]])
        self.near(made.unpad_from_tile([1, 1, 2, 3]), get(x))
        with self.assertWarns(UserWarning):
            self.assertEqual(list(x.to(TILE).pad([1, 1, 64, 64], [0] * 4, 0).shape), [1, 1, 2, 3])
        with self.assertRaisesRegex(RuntimeError, "are not those of"):
            made.unpad_from_tile([1, 1, 33, 3])

    def test_padding_of_tiles_has_the_given_value(self):
        x, rows = put([[1.0, 2.0]]), put([[1.0, 2.0]], layout=ROWS)
        for made in (ttnn.fill_implicit_tile_padding(x, 5.0), put([[1.0, 2.0]], pad_value=5.0),
                     ttnn.tilize_with_val_padding(rows, [32, 32], 5.0)):
            self.near(made.cpu().unpad([0, 0], [2, 3]), [[1, 2, 5], [5, 5, 5]])
        full = put(numpy.zeros((32, 32)))
        self.assertIs(ttnn.fill_implicit_tile_padding(full, 1.0), full)
        self.refused("is not that of the tiles", ttnn.tilize_with_val_padding, rows, [64, 32], 0.0)

    def test_files_keep_where_a_tensor_lay(self):
        config = sharded([1, 1, 64, 32], ttnn.ShardStrategy.HEIGHT, y=2)
        with tempfile.TemporaryDirectory() as folder:
            for where in (ttnn.L1_MEMORY_CONFIG, config):
                path = f"{folder}/x.tensorbin"
                ttnn.dump_tensor(path, put(numpy.ones((1, 1, 64, 32)), memory_config=where))
                self.assertEqual(ttnn.load_tensor(path, device=device).memory_config(), where)

    def test_memory_is_freed_with_its_last_tensor_unless_forced(self):
        x = put([[1.0, 2.0]])
        view = ttnn.reshape(x, [1, 1, 1, 2])
        x.deallocate()
        self.assertTrue(view.is_allocated())
        ttnn.deallocate(x)
        self.assertFalse(view.is_allocated())

    def test_full_fills_the_given_tensor(self):
        out = put([[0.0, 0.0]])
        self.assertIs(ttnn.full([1, 2], 3.0, optional_tensor=out), out)
        self.near(out, [[3, 3]])

    def test_words_that_are_none_of_a_functions(self):
        x = put([[1.0]])
        for call in (lambda: ttnn.quantize(x, 0.1, 0, zero=1), lambda: ttnn.quantize(x, 0.1),
                     lambda: ttnn.Tensor(numpy.ones(2), ttnn.float32, colour=1),
                     lambda: ttnn.Tensor([1.0], [1], ttnn.float32, ROWS, depth=1),
                     lambda: ttnn.allocate_tensor_on_host([1], ttnn.float32, ROWS, None, 5)):
            with self.assertRaisesRegex(TypeError, "incompatible function arguments"):
                call()
        self.refused("tiles of .16, 32. are not computed", put, [[1.0]], tile=ttnn.Tile((16, 32)))

    def test_grids_may_be_lists(self):
        self.assertEqual(ttnn.num_cores_to_corerangeset(56, [8, 7], True).num_cores(), 56)

    def test_a_fused_bias_is_the_first_row_of_its_tile(self):
        bias = numpy.full((1, 1, 32, 64), 9.0)
        bias[:, :, 0] = 2
        a, b = put(numpy.ones((1, 1, 32, 32))), put(numpy.ones((1, 1, 32, 64)))
        made = ttnn.linear(a, b, bias=put(bias), core_grid=ttnn.CoreGrid(y=1, x=1))
        self.assertEqual(numpy.unique(get(made)).tolist(), [34])
        self.refused("alpha parameter cannot be 0", ttnn.addmm, a, a, a, alpha=0)
        self.refused("output_tile=.* is not computed", ttnn.matmul, a, b, output_tile=ttnn.Tile())

    def test_complex_parts_lie_where_they_are_wanted(self):
        z = ttnn.complex_tensor(put([[3.0]]), put([[4.0]]))
        for function in (ttnn.real, ttnn.imag, ttnn.angle, ttnn.is_real):
            made = function(z, memory_config=ttnn.L1_MEMORY_CONFIG)
            self.assertEqual(made.memory_config(), ttnn.L1_MEMORY_CONFIG)


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


class MeshTest(ValuesTest):
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

    def test_results_of_collectives_lie_in_the_given_buffers(self):
        x, out = self.spread(1, 2, 3, 4), self.spread(0, 0, 0, 0)
        made = ttnn.experimental.all_reduce_async(x, buffer_tensor=out, cluster_axis=1, num_links=1)
        self.assertIs(made, out)
        self.assertEqual(self.shards(out), [3, 3, 7, 7])
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


class OrdersTest(ValuesTest):
    def test_sums_from_the_end_in_another_type(self):
        x = put([[1.5, 2.5, 3.5]])
        self.near(ttnn.cumsum(x, -1, reverse_order=True), [[7.5, 6, 3.5]])
        self.assertEqual(get(ttnn.cumsum(x, 1, dtype=ttnn.int32)).tolist(), [[1, 3, 6]])
        self.near(ttnn.cumprod(x, 1, reverse_order=True), [[13.125, 8.75, 3.5]])
        self.refused("Shape mismatch", ttnn.cumsum, x, 1, out=put([1.0]))
        scalar = put(2.0)
        self.assertIs(ttnn.cumsum(scalar, 0), scalar)

    def test_topk_gives_the_names_of_places(self):
        x, names = put([[1.0, 4, 3, 2]]), put([[7, 8, 9, 6]], ttnn.uint16)
        first, places = ttnn.topk(x, 2, -1, True, True, indices_tensor=names)
        self.assertEqual((get(first).tolist(), get(places).tolist()), ([[4, 3]], [[8, 9]]))
        self.refused("K cannot be larger", ttnn.topk, x, 5)

    def test_large_sorts_have_indices_of_uint32(self):
        self.assertEqual(ttnn.sort(put(numpy.zeros(65535)))[1].dtype, ttnn.uint32)
        first, places = ttnn.sort(put([2.0, 1]), 0, False, True)
        self.assertEqual((get(places).tolist(), places.dtype), ([1, 0], ttnn.uint16))
        self.assertEqual(ttnn.sort(put(3.0))[1].item(), 0)

    def test_tokens_are_drawn_among_the_likeliest(self):
        numbers = numpy.full((1, 1, 32, 64), -20.0)
        numbers[..., 5], numbers[..., 9] = 1.0, 1.0
        x = put(numbers, ttnn.bfloat16)
        names = put(numpy.tile(numpy.arange(100, 164), (1, 1, 32, 1)), ttnn.int32, ROWS)

        def tokens(k, p, **options):
            each = [put(numpy.full(32, one), kind, ROWS) for one, kind in (
                (k, ttnn.uint32), (p, ttnn.bfloat16), (1.0, ttnn.bfloat16))]
            return get(ttnn.sampling(x, names, *each, **options)).ravel().tolist()

        self.assertEqual(tokens(1, 0.9), [105] * 32)
        self.assertEqual(tokens(10, 0.0), [105] * 32)
        self.assertEqual(set(tokens(10, 0.9, seed=3)), {105, 109})
        self.assertEqual(tokens(10, 0.9, seed=3), tokens(10, 0.9, seed=3))
        self.assertNotEqual(tokens(10, 0.9), tokens(10, 0.9))
        ttnn.manual_seed(seeds=42, device=device)
        first = tokens(10, 0.9)
        ttnn.manual_seed(seeds=42, device=device)
        self.assertEqual(tokens(10, 0.9), first)
        self.refused("must have 32 users", ttnn.sampling, put(numpy.zeros((1, 64))), ints([0]), 1, 0)


if __name__ == "__main__":
    unittest.main()
