# SPDX-License-Identifier: Apache-2.0
"""Values at special places, as ttnn has them: numbers beside bfloat16, quotients of nothing, types that
are mixed, ops that few scripts use; and what ttnn refuses."""

import math

import numpy

import howard.ttnn as ttnn
from howard.ttnn._session import session
from ttnn_values_case import ROWS, ValuesCase, device, get, ints, put, sharded


def halves(*values):
    return put(numpy.array([values], numpy.float32), ttnn.bfloat16)


class NumbersTest(ValuesCase):
    def test_a_number_beside_bfloat16_has_as_many_bits(self):
        self.near(ttnn.fmod(halves(3), 0.0025), [[3 - 1198 * 0.00250244140625]], 1e-6)
        self.near(ttnn.eq(halves(0.1), 0.1), [[1]])
        self.near(ttnn.add(put(numpy.zeros((1, 1))), 0.1), [[0.1]], 1e-8)

    def test_quotients_of_nothing(self):
        zero, one = halves(0), halves(1)
        self.near(ttnn.div(zero, zero), [[math.inf]])
        self.near(ttnn.remainder(one, zero), [[math.inf]])
        self.near(ttnn.div(halves(math.nan), one), [[math.nan]])
        wide = put(numpy.zeros((1, 1)))
        self.near(ttnn.div(wide, wide), [[math.nan]])

    def test_gradients_of_acosh_where_there_are_none(self):
        (made,) = ttnn.acosh_bw(put([[1.0, 1.0]]), put([[0.5, 2.0]]))
        self.near(made, [[device.sfpu_nan(), 1 / math.sqrt(3)]])

    def test_more_functions_of_one_number(self):
        for name, number, expected in (("POWER_ITERATIVE", 3, 8), ("LEFT_SHIFT", 1, 4)):
            x = put([[2.0]]) if name == "POWER_ITERATIVE" else put([[2]], ttnn.int32)
            chain = [ttnn.UnaryWithParam(ttnn.UnaryOpType[name], number)]
            self.near(ttnn.unary_chain(x, chain), [[expected]])


class FewScriptsTest(ValuesCase):
    def setUp(self):
        self.x = numpy.random.default_rng(7).random((2, 4, 8, 32), numpy.float32)

    def test_a_part_of_one_dimension(self):
        self.near(ttnn.narrow(put(self.x), -2, 3, 4), self.x[:, :, 3:7])
        self.near(ttnn.narrow(put(self.x), 0, -1, 1), self.x[1:])
        self.refused(r"start \(6\) \+ length \(4\) exceeds dimension size \(8\)", ttnn.narrow,
                     put(self.x), 2, 6, 4)
        self.near(ttnn.reshape_on_device(put(self.x), 1, 1, 64, 32), self.x.reshape(1, 1, 64, 32))

    def test_sums_of_images(self):
        self.near(ttnn.experimental.intimg(put(self.x)), self.x.cumsum(1).cumsum(2))

    def test_a_mean_that_forgets(self):
        made = get(ttnn.ema(put(self.x), 0.25))
        self.near(made[..., 0], self.x[..., 0])
        self.near(made[..., 2], 0.25 * made[..., 1] + 0.75 * self.x[..., 2])

    def test_the_weight_of_the_first_expert(self):
        scores = numpy.array([[[[3.0, 1.0, 2.0, 0.0], [0.0, 5.0, 4.0, 3.0]]]])
        made = ttnn.moe(put(scores), put(numpy.zeros((1, 1, 1, 4))), put(numpy.zeros((1, 1, 1, 2))), 2)
        self.near(made, [[[[1 / (1 + math.exp(-1))], [0]]]])

    def test_places_that_are_not_zero_are_told_as_the_software_tells_them(self):
        x = put(numpy.array([[[[0, 2, 0, 3]]]]), ttnn.bfloat16, ROWS)
        count, places = map(get, ttnn.nonzero(x))
        self.assertEqual((count.item(), places.ravel()[:2].tolist()), (2, [1, 3]))
        before, session.profiles = session.profiles, ["tt_metal_2026_07"]
        try:
            count, places = map(get, ttnn.nonzero(x))
            order = ttnn.sort(put([[3.0, 1.0]]))[1]
            wide = ttnn.add(halves(1), 0.00391)  # As bfloat16 it is 1 / 256, half of a step from 1.
        finally:
            session.profiles = before
        self.assertIs(order.dtype, ttnn.uint32)
        self.near(wide, [[1.0078125]])
        self.near(ttnn.add(halves(1), 0.00391), [[1]])
        self.assertIs(ttnn.sort(put([[3.0, 1.0]]))[1].dtype, ttnn.uint16)
        self.assertEqual(places.shape, (4, 4))
        self.assertEqual(places[:2].tolist(), [[0, 0, 0, 1], [0, 0, 0, 3]])


class TakenTest(ValuesCase):
    def test_tables_of_another_type(self):
        x, cos = numpy.ones((1, 1, 32, 64)), numpy.full((1, 1, 32, 64), 0.5)
        made = ttnn.experimental.rotary_embedding(put(x, ttnn.bfloat8_b), put(cos, ttnn.bfloat16),
                                                  put(0 * cos, ttnn.bfloat16))
        self.assertIs(made.dtype, ttnn.bfloat8_b)
        self.near(made, 0.5 * x)

    def test_queries_of_another_type_than_keys(self):
        q = numpy.random.default_rng(6).random((1, 2, 32, 64), numpy.float32)
        made = ttnn.transformer.scaled_dot_product_attention(
            put(q, ttnn.bfloat16), put(q, ttnn.bfloat8_b), put(q, ttnn.bfloat8_b), is_causal=False)
        self.assertIs(made.dtype, ttnn.bfloat16)
        powers = numpy.exp(q @ q.swapaxes(-1, -2) / 8)
        self.near(made, powers / powers.sum(-1, keepdims=True) @ q, 0.01)

    def test_tiles_beyond_the_last(self):
        made = ttnn.tilize_with_val_padding(put(numpy.ones((32, 64)), ttnn.bfloat16, ROWS), [64, 128], 7)
        self.assertEqual((made.shape, made.padded_shape), ([32, 64], [64, 128]))
        self.refused("must be of whole tiles", ttnn.tilize_with_val_padding,
                     put(numpy.ones((32, 64)), ttnn.bfloat16, ROWS), [48, 64], 7)

    def test_rows_of_several_matrices(self):
        a, b = numpy.ones((1, 1, 64, 32)), numpy.arange(2).reshape(2, 1, 1, 1) * numpy.ones((2, 1, 1, 32))
        made = ttnn.bcast(put(a), put(b), ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.H)
        self.near(made, (a.reshape(2, 1, 32, 32) + b).reshape(a.shape))

    def test_an_output_of_another_type_gets_the_memory_of_the_result(self):
        out = put(numpy.zeros((2, 32, 32)), ttnn.bfloat16)
        made = ttnn.cumprod(put(numpy.full((2, 32, 32), 3.0)), 0, dtype=ttnn.float32, out=out)
        self.assertIs(made, out)
        self.assertIs(out.dtype, ttnn.float32)
        self.near(out, numpy.array([3.0, 9.0])[:, None, None] * numpy.ones((2, 32, 32)))

    def test_sums_of_other_dimensions_are_one_program_where_ttnn_has_one(self):
        x = numpy.random.default_rng(4).random((2, 3, 4, 30, 32), numpy.float32)
        for dtype, dim, programs in ((ttnn.bfloat16, 0, 1), (ttnn.bfloat16, 2, 1), (ttnn.bfloat8_b, 1, 1),
                                     (ttnn.float32, 1, 3)):
            given = put(x, dtype)
            before = device.num_program_cache_entries()
            self.near(ttnn.sum(given, dim), x.sum(dim), 0.05)
            self.assertEqual(device.num_program_cache_entries() - before, programs, (dtype, dim))

    def test_a_sum_of_shards_needs_no_copies(self):
        shape = (64, 64, 32, 64)
        given = put(numpy.ones(shape), ttnn.bfloat16, memory_config=sharded(
            shape, ttnn.ShardStrategy.HEIGHT, 8, 4))
        self.near(ttnn.sum(given, 0, memory_config=ttnn.L1_MEMORY_CONFIG), 64 * numpy.ones(shape[1:]))

    def test_rows_of_images_become_columns_on_their_cores(self):
        given = put(numpy.ones((1, 1, 262144, 2)), ttnn.bfloat16, memory_config=sharded(
            (1, 1, 262144, 32), ttnn.ShardStrategy.HEIGHT, 8, 4))
        spec = ttnn.experimental.convert_to_chw(given).memory_config().shard_spec
        self.assertEqual(spec.shape, [2, 8192])

    def test_products_along_several_dimensions(self):
        x = numpy.random.default_rng(2).random((2, 3, 32, 32), numpy.float32)
        out = put(numpy.zeros((1, 1, 32, 32)))
        self.assertIs(ttnn.prod(put(x), out, dims=[0, 1]), out)
        self.near(out, x.prod((0, 1), keepdims=True))
        self.near(ttnn.prod(put(x), dim=1), x.prod(1))

    def test_tensors_say_where_a_slice_is(self):
        x = numpy.arange(64, dtype=numpy.float32)
        made = ttnn.slice(put(x, layout=ROWS), ints(8), ints(40), slice_dim=0, num_devices=1)
        self.near(made, x[8:40])

    def test_one_seed_for_all_users(self):
        users = put(numpy.arange(32), ttnn.uint32, ROWS)
        self.assertIsNone(ttnn.manual_seed(5, device=device, user_ids=users))
        self.refused("must be row-major tensors of uint32", ttnn.manual_seed,
                     put(numpy.zeros(32), layout=ROWS), user_ids=users)

    def test_heads_of_a_shard_have_the_rows_of_one_causal_mask(self):
        x, mask = numpy.zeros((1, 1, 128, 64)), numpy.triu(numpy.full((64, 64), -1e4), 1)
        shards = sharded((1, 1, 128, 64), ttnn.ShardStrategy.HEIGHT, 2)
        made = ttnn.scale_mask_softmax_in_place(put(x, memory_config=shards), 1.0, put(mask[None, None]),
                                                is_causal_mask=True)
        rows = numpy.tril(numpy.ones((64, 64))) / numpy.arange(1, 65)[:, None]
        self.near(made, numpy.tile(rows, (2, 1))[None, None])


class RefusedTest(ValuesCase):
    def test_a_slice_ends_in_its_tensor(self):
        x = put(numpy.ones((2, 3, 30, 32)))
        self.refused("Ends .2, 4, 30, 32. must be less than or equal to the shape", ttnn.slice, x,
                     [0] * 4, [2, 4, 30, 32])
        self.assertEqual(ttnn.slice(x, [0] * 4, [2, 3, 32, 32]).shape, [2, 3, 30, 32])  # Within a tile.
        self.assertEqual(x[:, :5].shape, [2, 3, 30, 32])

    def test_shards_that_ttnn_refuses(self):
        wide = sharded((32, 256), ttnn.ShardStrategy.WIDTH, 8)
        x = put(numpy.ones((32, 256)), ttnn.bfloat16, ROWS, memory_config=wide)
        self.refused("row-major tensors in width shards", ttnn.add, x, x)
        self.refused("sharded tensors are not supported", ttnn.experimental.broadcast_to,
                     put(numpy.ones((1, 256))), [32, 256], memory_config=wide)


if __name__ == "__main__":
    import unittest

    unittest.main()
