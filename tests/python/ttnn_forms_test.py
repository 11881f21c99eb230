# SPDX-License-Identifier: Apache-2.0
"""Calls in the forms that tests and models of tt-metal have: small tiles, layouts that are mixed, caches of
what is attended to, gradients of what was broadcast. NumPy says what they give."""

import math
import tempfile
import unittest
import unittest.mock

import numpy

import howard.ttnn as ttnn
from howard.ttnn._session import session
from ttnn_values_case import ROWS, ValuesCase, device, get, ints, put, sharded

random = numpy.random.default_rng(11)


def halves(*shape):
    """Returns numbers that bfloat16 has."""
    return (random.integers(-64, 64, shape) / 32).astype(numpy.float32)


class TilesTest(ValuesCase):
    def small(self, values, rows, columns, **options):
        return put(values, ttnn.bfloat16, tile=ttnn.Tile((rows, columns)), **options)

    def test_padding_is_that_of_the_tile(self):
        x = halves(3, 40, 40)
        made = self.small(x, 16, 32)
        self.assertEqual(list(made.padded_shape), [3, 48, 64])
        for one in (made, made.cpu(), made.cpu().to(device), ttnn.allocate_tensor_on_device(made.spec, device)):
            self.assertEqual(one.tile, ttnn.Tile((16, 32)))
            self.assertEqual(list(one.padded_shape), [3, 48, 64])
        self.near(made, x)
        self.near(ttnn.add(made, made), 2 * x)
        self.near(ttnn.to_layout(made, ROWS), x)
        self.assertEqual(ttnn.to_layout(made, ROWS).padded_shape, [3, 40, 40])
        with self.assertRaisesRegex(RuntimeError, "not valid for our hardware"):
            ttnn.Tile((24, 32))
        with unittest.mock.patch.object(session, "profiles", ["tt_metal_2026_07"]):  # It tilizes on the device.
            self.assertEqual(self.small(x, 16, 32).tile, ttnn.Tile((16, 32)))

    def test_moves_and_files_keep_the_tile(self):
        x = halves(2, 64, 128)
        made, where = self.small(x, 16, 32), sharded(x.shape, ttnn.ShardStrategy.HEIGHT, 8)  # 16 rows each
        shards = ttnn.to_memory_config(made, where)
        self.assertEqual((shards.tile, shards.memory_config()), (made.tile, where))
        with tempfile.TemporaryDirectory() as folder:
            ttnn.dump_tensor(f"{folder}/x.tensorbin", shards)
            read = ttnn.load_tensor(f"{folder}/x.tensorbin", device=device)
        for one in (ttnn.sharded_to_interleaved(shards), ttnn.clone(shards), read):
            self.assertEqual(one.tile, made.tile)
            self.near(one, x)
        self.assertFalse(ttnn.transpose(made, 1, 2).tile.is_small())

    def test_products_count_the_tiles_that_there_are(self):
        a, b, bias = halves(1, 1, 64, 128), halves(1, 1, 128, 256), halves(1, 1, 1, 256)
        for rows, columns, block in ((16, 32, (4, 2)), (32, 16, (2, 4)), (16, 16, (4, 4)), (1, 32, (64, 2))):
            blocks = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
                compute_with_storage_grid_size=(4, 1), in0_block_w=1, out_subblock_h=1, out_subblock_w=1,
                per_core_M=block[0], per_core_N=block[1], fuse_batch=True, mcast_in0=True)
            where = sharded((1, 1, 64, 128), ttnn.ShardStrategy.WIDTH, 4)
            made = ttnn.linear(
                self.small(a, rows, 32, memory_config=where), self.small(b, 32, columns),
                bias=self.small(bias, rows, columns), program_config=blocks, dtype=ttnn.float32,
                memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG, output_tile=ttnn.Tile((rows, 32)))
            self.near(made, a @ b + bias, 1e-3)
            self.assertEqual(made.tile.tile_shape, [rows, 32])
            self.assertEqual(made.memory_config().shard_spec.shape, [64, 64])
        self.refused("must have inner dim equal", ttnn.matmul, self.small(a, 32, 16), put(b, ttnn.bfloat16))
        whole = ttnn.matmul(put(a), put(b), output_tile=ttnn.Tile((32, 32)))
        self.near(whole, a @ b, 1e-4)


class LayoutsTest(ValuesCase):
    def test_rows_and_tiles_give_tiles(self):
        a, b = halves(2, 40, 48), halves(1, 40, 1)
        for first, second in ((ROWS, ttnn.TILE_LAYOUT), (ttnn.TILE_LAYOUT, ROWS)):
            made = ttnn.multiply(put(a, layout=first), put(b, layout=second))
            self.near(made, a * b)
            self.assertIs(made.layout, ttnn.TILE_LAYOUT)
            self.near(ttnn.where(put(a > 0, layout=first), put(a, layout=second), 2.0), numpy.where(a > 0, a, 2))
            self.near(ttnn.addalpha(put(a, layout=first), put(a, layout=second), 2.0), 3 * a)
            made = ttnn.addcmul(put(a, layout=first), put(a, layout=second), put(a, layout=first))
            self.near(made, a + a * a)
            self.assertIs(made.layout, ttnn.TILE_LAYOUT)

    def test_whole_numbers_of_rank_0(self):
        for dtype in (ttnn.uint8, ttnn.uint16, ttnn.int32):
            self.assertEqual(get(put(numpy.array(7), dtype)).tolist(), 7)

    def test_memory_of_a_specification_on_the_host(self):
        x = put(halves(2, 32, 32))
        host = ttnn.allocate_tensor_on_host(x.spec, device)
        ttnn.copy_device_to_host_tensor(x, host)
        self.near(host, get(x))


class AttentionTest(ValuesCase):
    def test_queries_and_keys_have_tables_of_their_own(self):
        users, size = 4, 32
        q, k = halves(1, users, 2, size), halves(1, users, 1, size)
        cos, sin = halves(1, 2 * users, 1, size), halves(1, 2 * users, 1, size)
        swap = numpy.zeros((1, 1, 32, 32), numpy.float32)
        swap[..., range(0, 32, 2), range(1, 32, 2)] = 1
        swap[..., range(1, 32, 2), range(0, 32, 2)] = -1
        made = ttnn.experimental.rotary_embedding_llama_fused_qk(*map(put, (q, k, cos, sin, swap)))
        for one, x, at in zip(made, (q, k), (0, users)):
            own = slice(at, at + users)
            self.near(one, x * cos[:, own] + x @ swap[0, 0] * sin[:, own], 1e-3)

    def attended(self, q, keys, held, start):
        scores = q @ keys.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        seen = numpy.arange(keys.shape[-2]) <= start + numpy.arange(q.shape[-2])[:, None]
        weights = numpy.exp(numpy.where(seen, scores, -numpy.inf))
        return weights / weights.sum(-1, keepdims=True) @ held

    def test_a_chunk_of_latent_attention(self):
        q, keys = halves(1, 4, 32, 64), halves(1, 1, 96, 64)
        pages = numpy.array([[2, 0, 1]])
        cache = numpy.zeros((3, 1, 32, 64), numpy.float32)
        cache[pages[0]] = keys.reshape(3, 1, 32, 64)
        made = ttnn.transformer.chunked_flash_mla_prefill(put(q), put(cache), 32, ints(*pages), 64)
        self.near(made, self.attended(q, keys, keys[..., :32], 64), 1e-3)

    def test_queries_by_the_first_rows_of_a_cache(self):
        x, cache = halves(1, 4, 32, 32), halves(32, 1, 96, 32)
        made = ttnn.experimental.attn_matmul_from_cache(put(x), put(cache), 64, True, ttnn.CoreCoord(8, 7))
        self.near(made, (x.transpose(2, 0, 1, 3) @ cache[:, :, :64].swapaxes(-1, -2)).transpose(1, 2, 0, 3), 1e-3)
        x = halves(1, 4, 32, 64)
        made = ttnn.experimental.attn_matmul_from_cache(put(x), put(cache), 64, False, ttnn.CoreCoord(8, 7))
        self.near(made, (x.transpose(2, 0, 1, 3) @ cache[:, :, :64]).transpose(1, 2, 0, 3), 1e-3)
        groups = ttnn.experimental.group_attn_matmul(put(halves(1, 4, 32, 32)), put(halves(32, 2, 32, 32)),
                                                     dtype=ttnn.bfloat16)
        self.assertIs(groups.dtype, ttnn.bfloat16)

    def test_a_ring_of_products(self):
        a, b = halves(1, 1, 32, 512), halves(1, 1, 512, 256)
        blocks = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(8, 1), in0_block_w=2, out_subblock_h=1, out_subblock_w=1,
            per_core_M=1, per_core_N=1, fuse_batch=True, mcast_in0=False, gather_in0=True)
        made = ttnn.matmul(put(a, memory_config=sharded(a.shape, ttnn.ShardStrategy.WIDTH, 8)),
                           put(b, memory_config=sharded(b.shape, ttnn.ShardStrategy.WIDTH, 8)),
                           program_config=blocks, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG)
        self.near(made, a @ b, 1e-3)


class MorehTest(ValuesCase):
    def test_batches_are_broadcast_and_their_gradients_summed(self):
        for left, right in (((2, 3, 33, 40), (1, 3, 40, 20)), ((2, 3, 33, 40), (40, 20)),
                            ((3, 33, 40), (2, 3, 40, 20))):
            a, b = halves(*left), halves(*right)
            self.near(ttnn.operations.moreh.matmul(put(a), put(b)), a @ b, 1e-3)
            g = halves(*(a @ b).shape)
            made = ttnn.operations.moreh.matmul_backward(put(g), put(a), put(b))
            for one, whole, of in zip(made, (g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ g), (a, b)):
                lead = whole.ndim - of.ndim
                dims = tuple(i for i in range(whole.ndim) if i < lead or of.shape[i - lead] != whole.shape[i])
                self.near(one, whole.sum(dims, keepdims=True).reshape(of.shape), 1e-3)

    def test_gradients_of_a_norm_without_its_last_dimension(self):
        x, g = halves(2, 3, 40) + 3, halves(2, 3)
        norm = numpy.sqrt((x * x).sum(-1))
        made = ttnn.operations.moreh.norm_backward(put(x), put(norm), put(g), 2.0, dim=-1)
        self.near(made, x * (g / norm)[..., None], 1e-3)

    def test_results_of_sgd_follow_its_buffer(self):
        x, g, buffer = halves(32, 32), halves(32, 32), halves(32, 32)
        outs = [put(numpy.zeros((32, 32))) for _ in range(2)]
        ttnn.operations.moreh.sgd(put(x), put(g), put(buffer), *outs, 0.5, 0.5, 0.0, 0.0, False,
                                  momentum_initialized=True)
        self.near(outs[1], 0.5 * buffer + g)
        self.near(outs[0], x - 0.5 * (0.5 * buffer + g))


class OthersTest(ValuesCase):
    def test_parts_of_another_tensor_at_places(self):
        a, b = halves(4, 1, 8, 32), halves(2, 1, 8, 32)
        made = ttnn.indexed_fill(ints(3, 1, dtype=ttnn.uint32), put(a, layout=ROWS), put(b, layout=ROWS))
        a[[3, 1]] = b
        self.near(made, a)

    def test_operands_may_have_their_names(self):
        x, y = halves(1, 32), halves(1, 32)
        a, b = put(x), put(y)
        self.near(ttnn.addcmul(input_tensor_a=a, input_tensor_b=b, input_tensor_c=b, value=2.0), x + 2 * y * y)
        self.near(ttnn.lerp(input=a, end=b, weight=0.25), x + 0.25 * (y - x))
        self.near(ttnn.typecast(input_tensor=a, dtype=ttnn.bfloat16), x)
        places = ints(range(31, -1, -1), layout=ttnn.TILE_LAYOUT, dtype=ttnn.uint16)
        self.near(ttnn.gather(input=a, dim=1, index=places), x[:, ::-1])
        ttnn.copy_host_to_device_tensor(host_tensor=b.cpu(), device_tensor=a)
        self.near(a, y)

    def test_ranges_of_a_mesh(self):
        ranges = ttnn.MeshCoordinateRangeSet(ttnn.MeshCoordinateRange((0, 0), (0, 1)))
        ranges.merge(ttnn.MeshCoordinateRange((0, 1), (1, 1)))
        self.assertEqual([tuple(one) for one in ranges.coords()], [(0, 0), (0, 1), (1, 1)])
        self.assertEqual(ranges.size(), 2)
        ranges.merge(ttnn.MeshCoordinateRange(ttnn.MeshShape(2, 2)))
        self.assertEqual(ranges, ttnn.MeshCoordinateRangeSet(ttnn.MeshCoordinateRange((0, 0), (1, 1))))
        self.assertEqual(len(ranges.ranges()), 1)

    def test_a_quotients_gradient_may_be_rounded(self):
        x, y, g = put([[6.0]]), put([[4.0]]), put([[1.0]])
        for word in ("round_mode", "rounding_mode"):
            for made, expected in zip(ttnn.div_bw(g, x, y, **{word: None}), (0.25, -0.375)):
                self.near(made, [[expected]])
            for made in ttnn.div_bw(g, x, y, **{word: "trunc"}):
                self.near(made, [[0.0]])


if __name__ == "__main__":
    unittest.main()
