# SPDX-License-Identifier: Apache-2.0
"""Where buffers lie, what the devices of a mesh have and exchange, captures that errors cut off."""

import importlib.util
import unittest

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    import howard.ttnn as ttnn


@unittest.skipUnless(HAS_TORCH, "needs python3-torch")
class AddressesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_device(device_id=0)

    @classmethod
    def tearDownClass(cls):
        ttnn.close_device(cls.device)

    def make(self, rows, memory=None):
        return ttnn.ones([rows, 64], layout=ttnn.TILE_LAYOUT, device=self.device,
                         memory_config=memory or ttnn.L1_MEMORY_CONFIG)

    def test_what_is_freed_is_given_again(self):
        first = self.make(64 * 32)
        address = first.buffer_address()
        second = self.make(32)
        self.assertEqual(address - second.buffer_address(), 2048)  # L1 is filled from its top.
        first.deallocate(True)
        with self.assertRaisesRegex(RuntimeError, "not allocated"):
            first.buffer_address()
        self.assertEqual(self.make(64 * 32).buffer_address(), address)

    def test_long_scripts_keep_only_what_lives(self):
        from howard.ttnn import _addresses

        spec = ((1, 1, 32, 32), "bfloat16", False, True, None)
        found = _addresses.Addresses(64, 0, 0)
        found.notes += [(0, spec)] + [note for number in range(1, 100)
                                      for note in ((number, spec), number)]
        found.shorten()
        self.assertEqual(found.notes, [(0, spec)])
        self.assertEqual(found.of(0), 1499136 - 2048)
        shards = ("height", 8, 1, 64, 96, False)
        self.assertEqual(_addresses.bytes_in_bank((*spec[:4], shards), 64), 6 * 2048)
        self.assertEqual(_addresses.bytes_in_bank(((1, 1, 100, 33), "float32", True, False, None), 12),
                         9 * 160)

    def test_dram_is_filled_from_its_bottom(self):
        first, second = (self.make(32, ttnn.DRAM_MEMORY_CONFIG) for _ in range(2))
        self.assertEqual(second.buffer_address() - first.buffer_address(), 2048)
        address = first.buffer_address()
        del first
        self.assertEqual(self.make(32, ttnn.DRAM_MEMORY_CONFIG).buffer_address(), address)

    def test_semaphores_have_addresses_of_their_own(self):
        cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
        first, second = (ttnn.create_global_semaphore(self.device, cores, 0) for _ in range(2))
        gap = ttnn.get_global_semaphore_address(first) - ttnn.get_global_semaphore_address(second)
        self.assertEqual(gap, 32)
        with self.assertRaisesRegex(RuntimeError, "lies in L1"):
            ttnn.create_global_semaphore(self.device, cores, 0, ttnn.BufferType.DRAM)


@unittest.skipUnless(HAS_TORCH, "needs python3-torch")
class MeshTest(unittest.TestCase):
    def test_parts_lie_on_their_devices(self):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
        values = torch.rand(32, 128)
        mapper = ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(
            [ttnn.PlacementReplicate(), ttnn.PlacementShard(1)]))
        whole = ttnn.from_torch(values, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=mesh,
                                mesh_mapper=mapper)
        parts = ttnn.get_device_tensors(whole)
        self.assertEqual([part.storage_type().name for part in parts], ["DEVICE", "DEVICE"])
        for part, golden in zip(parts, values.split(64, 1)):
            self.assertTrue(torch.equal(ttnn.to_torch(part), golden))
            self.assertTrue(torch.equal(ttnn.to_torch(ttnn.neg(part).cpu(),
                                        mesh_composer=ttnn.ConcatMeshToTensor(mesh, 0))[:32], -golden))
        topology = whole.tensor_topology()
        self.assertEqual(topology.placements(),
                         [ttnn.PlacementReplicate(), ttnn.PlacementShard(1)])
        self.assertEqual(topology.distribution_shape(), ttnn.MeshShape(1, 2))
        self.assertEqual(topology.mesh_coords()[1], ttnn.MeshCoordinate(0, 1))
        del whole
        self.assertTrue(parts[0].is_allocated())
        parts[0].deallocate(True)
        self.assertFalse(parts[1].is_allocated())
        ttnn.close_mesh_device(mesh)


@unittest.skipUnless(HAS_TORCH, "needs python3-torch")
class CaptureTest(unittest.TestCase):
    def test_an_error_within_a_capture_leaves_the_next_device_clean(self):
        for _ in range(2):
            with self.assertRaisesRegex(ValueError, "of the script"):
                device = ttnn.open_device(device_id=1, trace_region_size=1000000)
                x = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
                ttnn.add(x, x)
                try:
                    ttnn.begin_trace_capture(device, cq_id=0)
                    ttnn.add(x, x)
                    raise ValueError("of the script")
                finally:
                    ttnn.close_device(device)
        device = ttnn.open_device(device_id=1)
        x = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
        self.assertEqual(ttnn.to_torch(ttnn.add(x, x)).sum().item(), 2048)
        ttnn.close_device(device)


@unittest.skipUnless(HAS_TORCH, "needs python3-torch")
class ExpertsTest(unittest.TestCase):
    BATCH, LENGTH, WIDTH, CHOSEN, EXPERTS = 8, 2, 32, 3, 16

    def put(self, values, dtype, mapper):
        return ttnn.from_torch(values, dtype, device=self.mesh, mesh_mapper=mapper)

    def setUp(self):
        torch.manual_seed(2)
        self.mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
        self.addCleanup(ttnn.close_mesh_device, self.mesh)
        self.tokens = torch.rand(self.BATCH, 1, self.LENGTH, self.WIDTH).bfloat16()
        count = self.BATCH * self.LENGTH
        self.choices = torch.stack([torch.randperm(self.EXPERTS)[:self.CHOSEN] for _ in range(count)])
        self.owners = torch.randperm(self.EXPERTS) % 8  # of each expert

    def exchange(self, axis):
        """Returns what tokens become that each expert multiplies by its number, for each device."""
        mapper = (ttnn.ShardTensorToMesh(self.mesh, 0) if axis is None else
                  ttnn.ShardTensor2dMesh(self.mesh, (2, 4), (None, 0)))
        mapping = torch.nn.functional.one_hot(self.owners, 8).reshape(1, 1, self.EXPERTS, 8).int()
        mapping = self.put(mapping, ttnn.uint16, ttnn.ReplicateTensorToMesh(self.mesh))
        choices = self.choices.reshape(self.BATCH, 1, self.LENGTH, self.CHOSEN).int()
        sent, told = ttnn.all_to_all_dispatch(
            self.put(self.tokens, ttnn.bfloat16, mapper), self.put(choices, ttnn.uint16, mapper),
            mapping, cluster_axis=axis, num_links=1)
        self.assertEqual(told.shape, [1, self.BATCH, self.LENGTH, self.CHOSEN])
        made = []
        for i, part in enumerate(ttnn.get_device_tensors(sent)):
            got = ttnn.to_torch(part)
            wanted = (self.owners[self.choices] == i).any(-1).reshape(self.BATCH, self.LENGTH, 1)
            self.assertTrue(torch.equal(got[0], torch.where(wanted, self.tokens[:, 0], 0.0).bfloat16()))
            made += [got[0] * (e + 1) for e in range(self.EXPERTS) if self.owners[e] == i]
        made = self.put(torch.stack(made), ttnn.bfloat16, ttnn.ShardTensorToMesh(self.mesh, 0))
        back = ttnn.all_to_all_combine(made, told, mapping, axis=axis)
        return [ttnn.to_torch(part) for part in ttnn.get_device_tensors(back)]

    def test_tokens_go_to_their_experts_and_come_back(self):
        whole = self.tokens[:, 0].reshape(-1, self.WIDTH)
        for axis, lines in ((None, [range(8)]), (1, [range(4), range(4, 8)])):
            found = self.exchange(axis)
            for line in lines:
                got = torch.cat([found[i] for i in line], 1).reshape(self.CHOSEN, -1, self.WIDTH)
                for n in range(self.CHOSEN):
                    chosen = self.choices[:, n]
                    here = torch.isin(self.owners[chosen], torch.tensor(list(line)))
                    golden = whole * (chosen + 1)[:, None] * here[:, None]
                    self.assertTrue(torch.equal(got[n], golden.bfloat16()), (axis, n))

    def test_what_does_not_fit_is_refused(self):
        ones = self.put(torch.ones(8, 1, 2, 32), ttnn.bfloat16, None)
        for wrong, text in (((ones, ones, ones), "must be .1, 1, experts, 8 devices"),):
            with self.assertRaisesRegex(RuntimeError, text):
                ttnn.all_to_all_dispatch(*wrong)
        with self.assertRaisesRegex(RuntimeError, "must be 2 rows of 4 numbers"):
            ttnn.apply_device_delay(self.mesh, [[0, 0]])

    def test_what_has_no_meaning_says_so(self):
        for call, text in ((ttnn.generic_op, "C\\+\\+ kernels are not run here"),
                           (ttnn.ProgramDescriptor, "C\\+\\+ kernels"),
                           (ttnn.light_metal_begin_capture, "explain results/SCRIPT.workload.json")):
            with self.assertRaisesRegex(RuntimeError, text):
                call()
        with self.assertRaisesRegex(RuntimeError, "ttnn.LightMetalReplay: host calls"):
            ttnn.LightMetalReplay.create(None, self.mesh)


if __name__ == "__main__":
    unittest.main()
