# SPDX-License-Identifier: Apache-2.0
"""How collectives of the stand-in for ttnn use the links between devices: what each argument does to
the time, what is refused, and what ops give that exchange and compute in one program."""

import unittest

import numpy

import howard
import howard.ttnn as ttnn

RING, LINE = ttnn.Topology.Ring, ttnn.Topology.Linear


class LinksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 2))
        cls.addClassCleanup(ttnn.close_mesh_device, cls.mesh)
        cls.numbers = numpy.random.default_rng(3)

    def put(self, shape, dim=None, dtype=ttnn.bfloat16):
        """Returns random numbers as they are and as a tensor that is divided among the devices."""
        numbers = self.numbers.standard_normal(shape, numpy.float32)
        mapper = ttnn.ReplicateTensorToMesh(self.mesh) if dim is None else \
            ttnn.ShardTensorToMesh(self.mesh, dim)
        return numbers, ttnn.from_torch(numbers, dtype=dtype, layout=ttnn.TILE_LAYOUT,
                                        device=self.mesh, mesh_mapper=mapper)

    def took(self, call, *args, **kwargs):
        """Returns the virtual time of a call whose programs are known."""
        for _ in range(2):
            ttnn.synchronize_device(self.mesh)
            start = howard.now()
            call(*args, **kwargs)
            ttnn.synchronize_device(self.mesh)
        return howard.now() - start

    def near(self, tensor, expected):
        """Compares what each device has."""
        for one, wanted in zip(ttnn.get_device_tensors(tensor), expected):
            found = one.to_numpy().astype(numpy.float64)
            self.assertEqual(found.shape, wanted.shape)
            self.assertLess(numpy.abs(found - wanted).max(), 0.03 * numpy.abs(wanted).max())

    def test_arguments_of_links_move_the_time(self):
        _, x = self.put((1, 1, 512, 4096), 3)
        for call in (ttnn.all_gather, ttnn.reduce_scatter, ttnn.experimental.all_gather_async,
                     ttnn.experimental.reduce_scatter_minimal_async):
            def time(**use):
                return self.took(call, x, dim=3, **use)

            line = time()
            self.assertAlmostEqual(time(num_links=1, topology=LINE), line, 9)
            self.assertLess(time(num_links=2), line)
            ring = time(topology=RING)
            self.assertLess(ring, line)
            self.assertLess(ring, time(topology=RING, chunks_per_sync=2))
            self.assertLess(line, time(num_workers_per_link=1))
            self.assertLess(time(num_workers_per_link=2, num_buffers_per_channel=2),
                            time(num_workers_per_link=2, num_buffers_per_channel=1))
        _, blocks = self.put((1, 1, 512, 4096), 3, ttnn.bfloat8_b)
        half, whole = (self.took(ttnn.all_gather, one, dim=3) for one in (blocks, x))
        self.assertLess(half, whole)
        # The rows of this mesh are pairs: there is no way round.
        self.assertAlmostEqual(self.took(ttnn.all_gather, x, 3, 1, topology=RING),
                               self.took(ttnn.all_gather, x, 3, 1, topology=LINE), 9)

    def test_batches_of_a_ring_go_round_one_after_another(self):
        _, x = self.put((8, 8, 32, 128), 3)
        batch, channels = (self.took(ttnn.reduce_scatter, x, dim, topology=RING) for dim in (0, 1))
        self.assertGreater(channels, batch + 80e-6)
        batch, channels = (self.took(ttnn.reduce_scatter, x, dim, topology=LINE) for dim in (0, 1))
        self.assertAlmostEqual(channels, batch, 9)

    def test_links_that_there_are_not_are_refused_in_ttnns_words(self):
        _, x = self.put((1, 1, 32, 128), 3)
        with self.assertRaisesRegex(RuntimeError, "Requested link index 2 is out of bounds. 2 ether"):
            ttnn.all_gather(x, 3, num_links=3)
        for word in ("num_links", "chunks_per_sync", "num_workers_per_link"):
            with self.assertRaises(RuntimeError):
                ttnn.reduce_scatter(x, 3, **{word: 0})

    def test_products_hide_what_is_on_its_way(self):
        numbers, x = self.put((1, 1, 256, 2048), 3)
        weights, w = self.put((2048, 2048))
        use = {"dim": 3, "topology": RING, "num_links": 1}
        fused = ttnn.experimental.all_gather_matmul_async
        whole, made = fused(x, w, **use)
        self.near(whole, [numbers] * 4)
        self.near(made, [numbers @ weights] * 4)
        apart = self.took(ttnn.all_gather, x, **use) + self.took(ttnn.matmul, whole, w)
        self.assertLess(self.took(fused, x, w, **use), apart)
        self.assertLess(self.took(ttnn.matmul, whole, w), self.took(fused, x, w, **use))

        fused = ttnn.experimental.matmul_reduce_scatter_async
        product, part = fused(whole, w, **use)
        self.near(product, [numbers @ weights] * 4)
        self.near(part, numpy.split(4 * numbers @ weights, 4, 3))
        apart = self.took(ttnn.matmul, whole, w) + self.took(ttnn.reduce_scatter, product, **use)
        self.assertLess(self.took(fused, whole, w, **use), apart)
        with self.assertRaisesRegex(RuntimeError, "a multiple of 4 devices"):
            fused(whole, self.put((2048, 34))[1], **use)

    def test_a_product_beside_a_scattered_sum_is_both(self):
        numbers, x = self.put((4, 1, 32, 64), 0)
        weights, w = self.put((64, 96))
        others, y = self.put((4, 1, 32, 128), 0)
        product, part = ttnn.experimental.llama_rs_matmul(x, w, None, 3, None, 1, self.mesh, 1, None,
                                                          rs_tensor=y)
        self.near(product, numpy.split(numbers @ weights, 4))
        pairs = [others[i:i + 2].sum(0, keepdims=True) for i in (0, 2)]  # Of the devices of a row.
        self.near(part, [half for pair in pairs for half in numpy.split(pair, 2, 3)])
        with self.assertRaisesRegex(RuntimeError, "second_weight_tensor=a tensor is not computed"):
            ttnn.experimental.llama_rs_matmul(x, w, None, 3, None, 1, self.mesh, 1, None, rs_tensor=y,
                                              second_weight_tensor=w)

    def test_scattered_heads_and_gathered_norms(self):
        numbers, x = self.put((4, 1, 32, 384), 0)
        q, k, v = ttnn.experimental.llama_rs_create_heads(
            x, None, 3, None, None, None, num_heads=4, num_kv_heads=1, num_links=1)
        total = numbers.sum(0, keepdims=True)
        for made, first, heads in ((q, 0, 4), (k, 4, 1), (v, 5, 1)):
            columns = total[..., 64 * first:64 * (first + heads)]
            self.near(made, [columns[:, 0, 8 * i:8 * (i + 1)].reshape(1, 8, heads, 64)
                             for i in range(4)])

        numbers, x = self.put((1, 1, 32, 1024), 3)
        added, residual = self.put((1, 1, 32, 1024), 3)
        gains, weight = self.put((1, 1, 1, 256))
        made = ttnn.fused_rms_minimal(x, None, None, self.mesh, None, weight=weight, epsilon=1e-5,
                                      residual_input_tensor=residual)
        total = numbers + added
        normal = total / numpy.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-5)
        self.near(residual, numpy.split(total, 4, 3))
        self.near(made, [part * gains for part in numpy.split(normal, 4, 3)])


if __name__ == "__main__":
    unittest.main()
