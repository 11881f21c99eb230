# SPDX-License-Identifier: Apache-2.0
"""The collectives of tt-metal's models and tests, with the words that these give them, in a box of eight
chips: buffers that stay, semaphores, axes, sub-devices."""

import unittest

import numpy

import howard.ttnn as ttnn
from howard.ttnn._session import session

LINE = ttnn.Topology.Linear


class MeshCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        session.set_box(8)
        cls.addClassCleanup(session.set_box, 0)
        cls.mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
        cls.addClassCleanup(ttnn.close_mesh_device, cls.mesh)
        cls.semaphores = [ttnn.create_global_semaphore(cls.mesh, ttnn.CoreRangeSet([]), 0)] * 3
        cls.x = numpy.random.default_rng(3).integers(-8, 8, (8, 1, 64, 256)).astype(numpy.float32)

    def put(self, values, *dims, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT):
        """Returns a tensor that is cut along a dimension, or two for the two axes of the mesh."""
        mapper = ttnn.ShardTensor2dMesh(self.mesh, (2, 4), dims) if len(dims) == 2 else \
            ttnn.ShardTensorToMesh(self.mesh, *dims) if dims else ttnn.ReplicateTensorToMesh(self.mesh)
        return ttnn.from_torch(values, dtype, layout=layout, device=self.mesh, mesh_mapper=mapper)

    def parts(self, tensor):
        return [one.to_numpy() for one in ttnn.get_device_tensors(tensor)]

    def same(self, tensor, expected):
        for found, wanted in zip(self.parts(tensor), expected, strict=True):
            numpy.testing.assert_allclose(found, wanted, 1e-5, 1e-5)


class CollectivesTest(MeshCase):
    def test_a_gather_with_all_its_words(self):
        x, buffer = self.put(self.x, 3), self.put(numpy.zeros_like(self.x))
        words = {"dim": 3, "multi_device_global_semaphore": self.semaphores[:2], "num_links": 1,
                 "topology": LINE, "barrier_semaphore": self.semaphores[2],
                 "subdevice_id": ttnn.SubDeviceId(0), "chunks_per_sync": 10}
        self.same(ttnn.experimental.all_gather_async(
            x, persistent_intermediate_buffer=None, persistent_output_buffer=None, **words),
            [self.x] * 8)
        for made in (ttnn.experimental.all_gather_async(x, persistent_output_buffer=buffer, **words),
                     ttnn.experimental.strided_all_gather_async(
                         x, buffer, tiles_per_chunk=4, mm_block_h=2, **words)):
            self.assertEqual(made.buffer_address(), buffer.buffer_address())
            self.same(made, [self.x] * 8)
        flipped = numpy.concatenate(numpy.split(self.x, 8, 3)[::-1], 3)
        self.same(ttnn.experimental.all_gather_async_reversed(x, **words), [flipped] * 8)

    def test_devices_that_compute_the_same_share_it(self):
        whole = ttnn.all_gather(self.put(self.x, 3), 3)
        for made in (whole, ttnn.add(whole, self.put(self.x)), ttnn.all_reduce(whole)):
            shards = made._storage.cell.shards
            self.assertTrue(all(one is shards[0] for one in shards))
        self.same(ttnn.all_reduce(whole), [8 * self.x] * 8)
        rows = self.put(self.x[:, :, :33, :65], layout=ttnn.ROW_MAJOR_LAYOUT)
        made = ttnn.all_reduce(rows, topology=LINE)
        self.same(made, [8 * self.x[:, :, :33, :65]] * 8)
        self.assertIs(made.layout, ttnn.ROW_MAJOR_LAYOUT)

    def test_an_axis_may_stand_in_its_place(self):
        x = self.put(self.x, None, 3)
        made = ttnn.experimental.all_gather_async(x, 3, 1, self.mesh, LINE, self.semaphores[:2],
                                                  persistent_output_tensor=None)
        self.same(made, [self.x] * 8)
        rows = self.put(self.x, 0, 3)
        made = ttnn.experimental.all_gather_async(rows, 0, 0, self.mesh, LINE, self.semaphores[:2])
        self.same(made, numpy.split(self.x, 4, 3) * 2)

    def test_a_tensor_may_lie_on_some_of_the_devices(self):
        config = ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(3)],
                                       ttnn.MeshShape(1, 4))
        x = ttnn.from_torch(self.x, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=self.mesh,
                            mesh_mapper=ttnn.create_mesh_mapper(self.mesh, config))
        self.assertEqual(len(ttnn.get_device_tensors(x)), 4)
        self.same(ttnn.all_gather(x, 3), [self.x] * 4)

    def test_a_sum_has_a_buffer_for_what_is_on_its_way(self):
        x, buffer = self.put(self.x, 0), self.put(numpy.zeros((1, 1, 64, 2048)))
        total = self.x.sum(0, keepdims=True)
        made = ttnn.experimental.all_reduce_async(
            x, num_devices=8, barrier_semaphores=self.semaphores, math_op=ttnn.ReduceType.Sum,
            rs_global_semaphores=self.semaphores, ag_global_semaphores=self.semaphores,
            topology=LINE, num_links=1, subdevice_id=ttnn.SubDeviceId(0))
        self.same(made, [total] * 8)
        made = ttnn.experimental.all_reduce_async(
            x, buffer, cluster_axis=1, mesh_device=self.mesh, topology=LINE, num_links=1,
            multi_device_global_semaphore=self.semaphores[0])
        self.same(made, [one for half in numpy.split(self.x, 2)
                         for one in [half.sum(0, keepdims=True)] * 4])
        made = ttnn.experimental.llama_reduce_scatter(x, buffer, 3, self.semaphores[0],
                                                      ttnn.SubDeviceId(0), 1, self.mesh)
        halves = [half.sum(0, keepdims=True) for half in numpy.split(self.x, 2)]
        self.same(made, [one for half in halves for one in numpy.split(half, 4, 3)])

    def test_all_devices_change_the_dimension_that_they_divide(self):
        x = self.put(self.x, 3)
        expected = numpy.split(self.x, 8, 2)
        made = ttnn.experimental.all_to_all_async(
            x, None, None, 3, 2, multi_device_global_semaphore=self.semaphores[0], num_links=1,
            topology=LINE, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        self.same(made, expected)
        self.same(ttnn.experimental.all_to_all_async_generic(x, 3, 2, num_links=1), expected)

    def test_devices_have_the_edges_of_their_neighbours(self):
        x = self.put(self.x, None, 2)
        made = ttnn.experimental.neighbor_pad_async(
            x, 2, 1, 2, "replicate", 1, self.semaphores[0], self.semaphores[1], num_links=1, topology=LINE)
        wide = numpy.concatenate([self.x[:, :, :1], self.x, *[self.x[:, :, -1:]] * 2], 2)
        self.same(made, [wide[:, :, 16 * i:16 * i + 19] for i in range(4)] * 2)
        zeros = ttnn.experimental.neighbor_pad_async(
            self.put(numpy.full_like(self.x, numpy.inf), None, 2), 2, 1, 0, "zeros", 1)
        wide = numpy.full((8, 1, 65, 256), numpy.inf)
        wide[:, :, 0] = 0
        self.same(zeros, [wide[:, :, 16 * i:16 * i + 17] for i in range(4)] * 2)
        made = ttnn.experimental.slice_reshard_async(x, 2, 8, 32, 1, num_links=1)
        self.same(made, numpy.split(self.x[:, :, 8:40], 4, 2) * 2)

    def test_several_tensors_are_gathered_for_attention(self):
        pair = ttnn.experimental.ring_attention_all_gather_async(
            [self.put(self.x, 3), self.put(-self.x, 3)], dim=3, topology=LINE,
            multi_device_global_semaphore=self.semaphores[:2], num_links=1)
        for made, expected in zip(pair, (self.x, -self.x)):
            self.same(made, [expected] * 8)

    def test_attention_over_the_keys_of_all_devices(self):
        q, k, v = (self.x[:2].reshape(1, 2, 256, 64)[:, :, i:] for i in range(3))
        q, k, v = (numpy.pad(one, ((0, 0), (0, 0), (0, 256 - one.shape[2]), (0, 0))) / 8
                   for one in (q, k, v))
        other = self.x[:1, :, :32, :128].reshape(1, 2, 32, 64) / 8
        tensors = [self.put(one, 2) for one in (q, k, v)] + [self.put(other)] * 3
        made, joint, sums = ttnn.transformer.ring_joint_scaled_dot_product_attention(
            *tensors, logical_n=250, dim=2, joint_strategy="rear", topology=LINE, num_links=1,
            multi_device_global_semaphore=self.semaphores, mesh_device=self.mesh)
        keys, values = (numpy.concatenate([one[:, :, :250], other], 2) for one in (k, v))
        powers, others = (numpy.exp(one @ keys.swapaxes(-1, -2) / 8) for one in (q, other))
        whole, wanted_joint = (one / one.sum(-1, keepdims=True) @ values for one in (powers, others))
        for found, wanted in zip(self.parts(made), numpy.split(whole, 8, 2), strict=True):
            numpy.testing.assert_allclose(found, wanted, 1e-4, 1e-4)
        for found in self.parts(joint):
            numpy.testing.assert_allclose(found, wanted_joint, 1e-4, 1e-4)
        for i, found in enumerate(self.parts(sums)):
            rows = numpy.concatenate([powers[:, :, 32 * i:32 * i + 32], others], 2)
            numpy.testing.assert_allclose(found, numpy.log(rows.sum(-1, keepdims=True)), 1e-4)

    def test_heads_of_a_step(self):
        users = numpy.arange(32 * 8 * 32, dtype=numpy.float32).reshape(1, 32, 8, 32)
        made = ttnn.experimental.all_gather_concat(
            self.put(users, None, 1), None, 1, 1, self.mesh, self.semaphores[0], num_heads=8)
        self.same(made, [users.reshape(1, 1, 32, 256)] * 8)
        total, q, k, v = ttnn.experimental.all_reduce_create_qkv_heads(
            self.put(self.x[:, :, :32], 0), None, 1, num_heads=4, num_kv_heads=2)
        halves = [half[:, :, :32].sum(0, keepdims=True) for half in numpy.split(self.x, 2)]
        for made, first, heads in ((total, 0, 0), (q, 0, 4), (k, 128, 2), (v, 192, 2)):
            self.same(made, [half[..., first:first + 32 * heads].reshape(1, 32, heads, 32) if heads else half
                             for half in halves for _ in range(4)])


class ExpertsTest(MeshCase):
    def setUp(self):
        numbers = numpy.random.default_rng(11)
        self.mapping = numpy.eye(8)[numpy.arange(16) // 2].reshape(1, 1, 16, 8)
        self.chosen = numpy.stack([numbers.permutation(16)[:4] for _ in range(16)]).reshape(1, 8, 2, 4)
        self.made = numbers.random((8, 8, 2, 32), numpy.float32)

    def whole(self, values):
        return self.put(values, dtype=ttnn.uint16, layout=ttnn.ROW_MAJOR_LAYOUT)

    def test_what_a_device_has_added_stands_at_the_first_of_its_experts(self):
        made = ttnn.all_to_all_combine(
            self.put(self.made, 0, layout=ttnn.ROW_MAJOR_LAYOUT), self.whole(self.mapping),
            self.whole(self.chosen), local_reduce=True, num_links=1, topology=LINE)
        found = numpy.concatenate(self.parts(made), 1)
        for token in numpy.ndindex(8, 2):
            owners = [expert // 2 for expert in self.chosen[0][token]]
            for n, owner in enumerate(owners):
                wanted = self.made[owner][token] * (owners.index(owner) == n)
                numpy.testing.assert_allclose(found[(n, *token)], wanted)

    def test_tokens_go_out_and_come_back_where_devices_divide_a_dimension(self):
        for dim, shape in ((1, (8, 1, 2, 32)), (2, (2, 1, 8, 32))):
            tokens = numpy.random.default_rng(dim).random(shape, numpy.float32)
            choices = self.chosen.reshape(*shape[:3], -1)[..., :4]
            x, chosen = (self.put(one, 2 * dim - 2, dtype=dtype, layout=ttnn.ROW_MAJOR_LAYOUT) for one, dtype in
                         ((tokens, ttnn.float32), (choices, ttnn.uint16)))
            sent, told = ttnn.all_to_all_dispatch(x, chosen, self.whole(self.mapping),
                                                  output_concat_dim=dim, topology=LINE)
            self.same(told, [choices.reshape(1, shape[0], shape[2], 4)] * 8)
            wide = tokens.reshape(1, shape[0], shape[2], 32)
            self.same(sent, [wide * (choices.reshape(wide.shape[:3] + (4,)) // 2 == i).any(-1)[..., None]
                             for i in range(8)])
            both = ttnn.repeat(sent, ttnn.Shape([2, 1, 1, 1]))  # Two experts of each device change nothing.
            back = ttnn.all_to_all_combine(both, told, self.whole(self.mapping), output_shard_dim=dim,
                                           topology=LINE)
            self.same(back, numpy.split(numpy.repeat(wide, 4, 0), 8, dim))
        with self.assertRaisesRegex(RuntimeError, "must be 1 or 2"):
            ttnn.all_to_all_dispatch(x, chosen, self.whole(self.mapping), output_concat_dim=3)

    def test_weights_of_a_devices_own_experts(self):
        weights = numpy.random.default_rng(5).random((1, 8, 2, 16), numpy.float32)
        made, any_of = ttnn.moe_expert_token_remap(
            self.put(weights, layout=ttnn.ROW_MAJOR_LAYOUT), self.whole(self.mapping),
            self.whole(self.chosen), reduction_size=4)
        asked = (self.chosen[..., None] == numpy.arange(16)).any(3)
        own = (weights * asked).reshape(1, 8, 2, 8, 2)
        self.same(made, [own[..., i, :] for i in range(8)])
        groups = asked.reshape(4, 4, 8, 2).any(1)
        self.same(any_of, [groups[None, None, :, i] for i in range(8)])

    def test_weights_are_shared_along_an_axis(self):
        weights = numpy.zeros((1, 16), numpy.float32)
        weights[0, [1, 4, 5, 9]] = [1, 2, 3, 4]
        made = self.parts(ttnn.moe_routing_remap(self.put(weights, layout=ttnn.ROW_MAJOR_LAYOUT), 4, 2, 0))
        self.assertEqual(made[0].nonzero()[1].tolist(), [1, 4])
        self.assertEqual(made[4].nonzero()[1].tolist(), [5, 9])


class DevicesTest(unittest.TestCase):
    def test_a_sub_device_is_all_of_a_grid_with_dispatch_in_a_column(self):
        config = ttnn.DispatchCoreConfig(None, ttnn.DispatchCoreAxis.COL)
        device = ttnn.open_device(device_id=0, dispatch_core_config=config)
        self.addCleanup(ttnn.close_device, device)
        grid = device.compute_with_storage_grid_size()
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0),
                                                  ttnn.CoreCoord(grid.x - 1, grid.y - 1))])
        manager = device.create_sub_device_manager([ttnn.SubDevice([cores])], 0)
        device.load_sub_device_manager(manager)
        self.assertEqual((grid.x, grid.y, len(device.get_sub_device_ids())), (7, 8, 1))
        device.clear_loaded_sub_device_manager()


if __name__ == "__main__":
    unittest.main()
