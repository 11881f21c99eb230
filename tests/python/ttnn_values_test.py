# SPDX-License-Identifier: Apache-2.0
"""What ops on elements, places and whole tensors give for each of their arguments, against numbers that
PyTorch or ttnn give."""

import math
import tempfile
import unittest

import numpy

import howard
import howard.ttnn as ttnn
from ttnn_values_case import ROWS, TILE, ValuesCase, device, get, ints, put, sharded


class PlacesTest(ValuesCase):
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


class ElementsTest(ValuesCase):
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

    def test_types_of_real_numbers_mix_and_the_result_has_the_firsts(self):
        kinds = ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32
        for a, b in [(a, b) for a in kinds for b in kinds]:
            made = ttnn.add(put([[1.5, 2]], a), put([[1.0, 0.5]], b))
            self.near(made, [[2.5, 2.5]])
            self.assertIs(made.dtype, a)

    def test_what_ttnn_takes_of_types_and_shapes(self):
        column, both = put(numpy.ones((2, 2, 1, 32))), put(numpy.ones((2, 2, 32, 32)))
        self.near(ttnn.addalpha(column, both, 2.0), numpy.full((2, 2, 32, 32), 3.0))
        blocks = ttnn.to_dtype(ttnn.from_torch(numpy.ones((32, 32), numpy.float32)), ttnn.bfloat8_b)
        self.assertIs(blocks.layout, TILE)
        x = put([[1.0, 4.0]])
        self.near(ttnn.divide_(x, put([[2.0, 2.0]]), fast_and_approximate_mode=True), [[0.5, 2]])
        self.near(x, [[0.5, 2]])

    def test_clamp_needs_a_bound(self):
        x = put([[3.0, 9.0]])
        self.near(ttnn.clamp(x, 5.0, 4.0), [[4, 4]])
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
                (ttnn.UnaryWithParam(kind.POWER, 3.0), [[-8, 64]]), ("softplus", [[math.log1p(math.exp(-2)), math.log1p(math.exp(4))]]),
                (ttnn.UnaryWithParam(kind.CLAMP_TSS, [-0.5, 1.0]), [[-0.5, 1]]),
                (ttnn.UnaryWithParam(kind.UNARY_GT, 0.5), [[0, 1]]),
                (ttnn.UnaryWithParam(kind.ADD_UNARY_SFPU, 0.5), [[-1.5, 4.5]]),
                (ttnn.UnaryWithParam(kind.LEAKY_RELU, 0.5), [[-1, 4]]),
                (ttnn.UnaryWithParam(kind.RSUB, 1.0), [[3, -3]])):
            self.near(ttnn.add(x, x, activations=[activation]), expected)
        self.refused("Unsupported activation: 'elu'", ttnn.add, x, x, activations=["elu"])

    def test_an_activation_may_be_a_cast(self):
        x, kind = put([[-1.35, 1.3, 150.2]]), ttnn.UnaryOpType.TYPECAST
        for to, expected in ((ttnn.int32, [[-2, 2, 300]]), (ttnn.uint32, [[0, 2, 300]]),
                             (ttnn.float32, [[-2.7, 2.6, 300.4]]), (ttnn.bfloat16, [[-2.703125, 2.59375, 300]])):
            cast = ttnn.UnaryWithParam(kind, ttnn.float32, to)
            self.assertEqual(cast.params, [1.0, {"int32": 7, "uint32": 2, "float32": 1, "bfloat16": 0}[to.value]])
            self.near(ttnn.add(x, x, activations=[cast]), expected)
        self.near(ttnn.add(x, x, dtype=ttnn.int32, activations=[cast]), [[-2, 2, 300]])

    def test_a_type_says_the_function_of_two_operands(self):
        a, b, kind = put([[1.0, 2.0, 3.0]]), put([[2.0, 2.0, 2.0]]), ttnn.BinaryOpType
        for op, expected in ((kind.SUB, [[-1, 0, 1]]), (kind.DIV, [[0.5, 1, 1.5]]), (kind.LTE, [[1, 1, 0]]),
                             (kind.POWER, [[1, 4, 9]]), (kind.RSUB, [[1, 0, -1]]), (kind.MUL, [[2, 4, 6]])):
            self.near(ttnn.prim.binary(a, b, op), expected)
        made = ttnn.prim.binary(a, b, kind.SUB, dtype=ttnn.bfloat16, activations=[ttnn.UnaryWithParam(
            ttnn.UnaryOpType.ABS)], input_tensor_a_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SQUARE))
        self.assertIs(made.dtype, ttnn.bfloat16)
        self.near(made, [[1, 2, 7]])

    def test_blocks_whose_partial_sums_share_the_results_memory_fit(self):
        config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(8, 4), in0_block_w=6, out_subblock_h=2, out_subblock_w=4,
            per_core_M=12, per_core_N=16, transpose_mcast=False, fused_activation=None)
        a, b = (ttnn.empty(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
                for shape in ([1536, 384], [384, 4096]))
        self.assertEqual(ttnn.matmul(a, b, program_config=config).shape, [1536, 4096])
        wide = ttnn.WormholeComputeKernelConfig(fp32_dest_acc_en=True)
        config.out_subblock_w = 2
        self.refused("circular buffers need", ttnn.matmul, a, b, program_config=config,
                     compute_kernel_config=wide)

    def test_one_side_of_an_output_block_is_obeyed_where_the_other_is_not_said(self):
        a, b = (ttnn.empty(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
                for shape in ([2048, 512], [512, 2048]))

        def product(**block):
            config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
                compute_with_storage_grid_size=(4, 4), in0_block_w=2, out_subblock_h=1,
                out_subblock_w=4, per_core_M=16, per_core_N=16, transpose_mcast=False,
                fused_activation=None, **block)
            return ttnn.matmul(a, b, program_config=config)
        self.refused("16", product, out_block_h=5)
        self.assertEqual(product(out_block_h=8).shape, [2048, 2048])

    def test_row_major_weights_of_norms_are_rows_of_32(self):
        x, row = put([[1.0] * 32 + [3.0] * 32]), [0.5] * 32 + [2.0] * 32
        weight = put([row[:32], row[32:]], layout=ROWS)
        self.near(ttnn.layer_norm(x, weight=weight), [[-0.5] * 32 + [2.0] * 32])
        self.refused("rows of 32", ttnn.layer_norm, x, weight=put([row], layout=ROWS))

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


def time_of(call, *args, **how):
    call(*args, **how)  # the kernel is compiled
    ttnn.synchronize_device(device)
    start = howard.now()
    call(*args, **how)
    ttnn.synchronize_device(device)
    return howard.now() - start


def programs_of(call, *args):
    before = device.chip.calls()
    call(*args)
    return device.chip.calls() - before


class OrdersTest(ValuesCase):
    def test_sums_of_the_last_dimensions_come_first_of_four_and_go_back(self):
        x = put(numpy.ones((64, 1, 32, 32)), ttnn.bfloat16)
        self.assertEqual([programs_of(ttnn.cumsum, x, dim) for dim in range(4)], [1, 3, 3, 3])
        self.assertEqual(programs_of(ttnn.cumsum, put(numpy.ones((4, 32, 32))), 0), 3)
        # One line of 64 tiles, and 64 lines of a tile.
        chain = time_of(ttnn.cumsum, x, 0)
        self.assertGreater(chain, 2e-5 + time_of(
            ttnn.cumsum, put(numpy.ones((1, 64, 32, 32)), ttnn.bfloat16), 0))
        self.assertAlmostEqual(chain, time_of(ttnn.cumprod, x, 0), 9)
        backward = ttnn.operations.moreh.cumsum_backward
        self.near(backward(put([[1.0, 2, 3]]), 1), [[6, 5, 3]])

    def test_a_topk_of_another_dimension_changes_places_with_the_columns(self):
        x = put(numpy.arange(256.0).reshape(4, 64)[:, ::-1], ttnn.bfloat16)
        first, places = ttnn.topk(x, 2, 0)
        self.near(first, numpy.sort(get(x), 0)[:1:-1])
        self.assertEqual(get(places)[:, 5].tolist(), [3, 2])
        self.assertEqual(programs_of(ttnn.topk, x, 2, 0), 4)
        self.assertEqual(programs_of(ttnn.topk, x, 2, 1), 1)

    def test_one_core_has_the_topk_of_a_row_of_65536_numbers(self):
        long, short = (put(numpy.zeros((32, n)), ttnn.bfloat16) for n in (65536, 32768))
        self.assertGreater(time_of(ttnn.topk, long, 32), 10 * time_of(ttnn.topk, short, 32))

    def test_sums_from_the_end_in_another_type(self):
        x = put([[1.5, 2.5, 3.5]])
        self.near(ttnn.cumsum(x, -1, reverse_order=True), [[7.5, 6, 3.5]])
        self.assertEqual(get(ttnn.cumsum(x, 1, dtype=ttnn.int32)).tolist(), [[1, 3, 6]])
        self.near(ttnn.cumprod(x, 1, reverse_order=True), [[13.125, 8.75, 3.5]])
        self.refused("Shape mismatch", ttnn.cumsum, x, 1, out=put([1.0]))
        scalar = put(2.0)
        self.assertIs(ttnn.cumsum(scalar, 0), scalar)

    def test_an_argmax_goes_through_its_rows_number_by_number(self):
        x = put(numpy.zeros((32, 8192)), ttnn.bfloat16, ROWS)
        alone, shared = time_of(ttnn.argmax, x, -1, use_multicore=False), time_of(ttnn.argmax, x, -1)
        self.assertGreater(alone, 20 * shared)
        self.assertEqual(get(ttnn.argmax(put([[1.0, 4], [3, 2]]), -1)).tolist(), [1, 0])

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

    def test_a_sort_writes_what_it_is_given(self):
        for x, ordered, order in ((3.0, 3.0, 0), ([[2.0, 1, 2]], [[2, 2, 1]], [[0, 2, 1]])):
            out = put(numpy.zeros_like(x)), put(numpy.zeros_like(x), ttnn.uint16)
            self.assertIs(ttnn.sort(put(x), descending=True, out=out)[0], out[0])
            self.near(out[0], ordered)
            self.near(out[1], order)
        x, places = put([[2.0, 1]]), put([[0, 0]], ttnn.uint16)
        self.refused("accepted: .* of DataType.FLOAT32", ttnn.sort, x, out=(places, places))
        self.refused("accepted: .* of DataType.UINT16 or", ttnn.sort, x, out=(x, x))

    def test_a_sort_is_one_program_along_whole_rows_of_a_power_of_two_of_tiles(self):
        def programs(shape, dim):
            x = put(numpy.random.default_rng(1).random(shape), ttnn.bfloat16)
            device.disable_and_clear_program_cache()
            device.enable_program_cache()
            made, places = ttnn.sort(x, dim)
            self.near(made, numpy.sort(get(x), dim))
            self.near(places, numpy.argsort(get(x), dim, kind="stable"))
            return device.num_program_cache_entries()

        self.assertEqual(programs([2, 32, 64], -1), 1)
        self.assertEqual(programs([32, 64], 0), 7,
                         "turned, filled up, sorted, cut off twice, turned twice")
        self.assertEqual(programs([32, 96], 1), 4, "filled up, sorted, cut off twice")
        self.assertEqual(programs([2, 3, 64, 40], 2), 4, "turned, sorted, turned twice")
        self.assertEqual(programs([2, 1, 2, 3, 64], 1), 7, "the same of five dimensions")
        self.assertEqual(programs([32, 40], 1), 2, "the last tile is filled up")

    def test_a_sort_takes_the_stages_of_its_network(self):
        short, long = (put(numpy.zeros((32, n)), ttnn.bfloat16) for n in (4096, 65536))
        self.assertGreater(time_of(ttnn.sort, short), 0.2e-3)
        self.assertGreater(time_of(ttnn.sort, long), 15 * time_of(ttnn.sort, short))
        first, _ = ttnn.sort(put(numpy.arange(64.0)[::-1].reshape(1, 64)))
        self.near(first, [numpy.arange(64.0)])

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
        self.refused("k is None; it must be a number", ttnn.sampling, x, names, None, 0.9)
        self.refused("p is .0.9, 0.9.; it must be a number", ttnn.sampling, x, names, 1, [0.9, 0.9])
        self.refused("k is a tensor .*16.*; it must be", ttnn.sampling, x, names, ints([1] * 16), 0.9)
        for told, why in (((8.5, 0.9), "k is 8.5; it must be a whole number"),
                          (([1] * 31 + [0], 0.9), "k is .*0]; it must be a whole number from 1"),
                          ((1, 2), "p is 2; it must be a probability, 0 to 1"),
                          ((1, -0.1), "p is -0.1; it must be"),
                          ((1, 0.9, -1.0), "temp is -1.0; it must be 1 / temperature")):
            self.refused(why, ttnn.sampling, x, names, *told)
        rows = put(numpy.tile(numpy.arange(64), (1, 1, 32, 1)), ttnn.uint32, ROWS)
        self.assertEqual(get(ttnn.sampling(x, rows, [1] * 32, 0.0)).ravel().tolist(),
                         get(ttnn.sampling(x, rows, 1, 0.0)).ravel().tolist())


class TensorsTest(ValuesCase):
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
        self.refused("must be of whole tiles", ttnn.tilize_with_val_padding, rows, [48, 32], 0.0)

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
                     lambda: ttnn.allocate_tensor_on_host([1], ttnn.float32, ROWS, None, None, 5)):
            with self.assertRaisesRegex(TypeError, "incompatible function arguments"):
                call()

    def test_grids_may_be_lists(self):
        made = ttnn.num_cores_to_corerangeset(58, [8, 8], True)
        self.assertEqual((made.num_cores(), len(made.ranges())), (58, 2))

    def test_a_fused_bias_is_the_first_row_of_its_tile(self):
        bias = numpy.full((1, 1, 32, 64), 9.0)
        bias[:, :, 0] = 2
        a, b = put(numpy.ones((1, 1, 32, 32))), put(numpy.ones((1, 1, 32, 64)))
        made = ttnn.linear(a, b, bias=put(bias), core_grid=ttnn.CoreGrid(y=1, x=1))
        self.assertEqual(numpy.unique(get(made)).tolist(), [34])
        self.refused("alpha parameter cannot be 0", ttnn.addmm, a, a, a, alpha=0)
        self.refused("global_cb=.* is not computed", ttnn.matmul, a, b, global_cb=1)

    def test_complex_parts_lie_where_they_are_wanted(self):
        z = ttnn.complex_tensor(put([[3.0]]), put([[4.0]]))
        for function in (ttnn.real, ttnn.imag, ttnn.angle, ttnn.is_real):
            made = function(z, memory_config=ttnn.L1_MEMORY_CONFIG)
            self.assertEqual(made.memory_config(), ttnn.L1_MEMORY_CONFIG)


if __name__ == "__main__":
    unittest.main()
