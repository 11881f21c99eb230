# SPDX-License-Identifier: Apache-2.0
"""What tests and models of tt-metal ask for by name, December 2025 and June 2026: types, specifications,
windows, and how modules of torch are prepared."""

import subprocess
import sys
import unittest

import numpy

import howard.ttnn as ttnn
from ttnn_values_case import ROWS, ValuesCase, device, put, sharded

try:
    import torch
except ImportError:
    torch = None

GRID = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(3, 3))])


class TypesTest(ValuesCase):
    def test_a_type_of_2026_is_named_and_stands_in_no_table_of_2025(self):
        self.assertIs(ttnn.fp8_e4m3, ttnn.DataType.FP8_E4M3)
        self.assertEqual(repr(ttnn.fp8_e4m3), "DataType.FP8_E4M3")
        self.assertNotIn("FP8_E4M3", [one.name for one in ttnn.DataType])
        self.refused("FP8_E4M3: no tensor takes it here; accepted: BFLOAT16", ttnn.typecast,
                     put(numpy.zeros((32, 32))), ttnn.fp8_e4m3)
        self.refused("FP8_E4M3: no tensor takes it here", put, numpy.zeros((32, 32)), ttnn.fp8_e4m3)

    def test_ttnn_of_2026_has_it_in_its_tables(self):
        code = ("from howard.ttnn._types import know_types_of_2026\nimport howard.ttnn as ttnn\n"
                "know_types_of_2026()\nprint(ttnn.DataType['FP8_E4M3'] is ttnn.fp8_e4m3, "
                "list(ttnn.DataType)[-1], ttnn.DataType('fp8_e4m3'))")
        made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(made.stdout.split(), ["True", "DataType.FP8_E4M3", "DataType.FP8_E4M3"],
                         made.stderr)

    def test_names_that_fixtures_and_helpers_ask_for(self):
        self.assertIs(ttnn._ttnn.multi_device.MeshDevice, ttnn.MeshDevice)
        self.assertIsNot(device.arch(), ttnn.device.Arch.GRAYSKULL)
        self.assertEqual(ttnn.FabricManagerMode.DEFAULT.value, 0)
        self.assertEqual((ttnn.core.divup(65, 32), ttnn.core.roundup(65, 32)), (3, 96))
        self.assertEqual((ttnn.get_dram_alignment(), ttnn.get_l1_alignment()), (32, 16))
        self.assertEqual(ttnn.get_num_pcie_devices(), ttnn.GetNumPCIeDevices())
        with self.assertRaisesRegex(RuntimeError, "H2DStreamService: streams between the host"):
            ttnn.H2DStreamService(device)
        with self.assertRaisesRegex(RuntimeError, "MeshSocket: sockets join meshes"):
            ttnn.MeshSocket(device)

    def test_freed_memory_is_free(self):
        x = put(numpy.ones((32, 32)))
        ttnn.device.DeallocateBuffers(device)
        self.assertFalse(x.is_allocated())
        self.near(put(numpy.ones((32, 32))), numpy.ones((32, 32)))

    def test_ranges_of_coordinates(self):
        found = ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate(1, 2))
        self.assertEqual([tuple(one) for one in found], [(0, 1), (0, 2), (1, 1), (1, 2)])
        self.assertEqual(found.shape(), (2, 2))
        self.assertEqual(len(list(ttnn.MeshCoordinateRange(ttnn.MeshShape(2, 4)))), 8)
        self.assertIn(ttnn.MeshCoordinate(1, 1), found)

    def test_a_worker_has_as_much_l1_as_the_script_says(self):
        narrow = ttnn.CreateDevice(1, worker_l1_size=32768)
        self.addCleanup(ttnn.close_device, narrow)
        x = ttnn.from_torch(numpy.zeros((64, 32), numpy.float32), ttnn.bfloat16, device=narrow,
                            memory_config=ttnn.L1_MEMORY_CONFIG)
        self.assertGreaterEqual(x.buffer_address(), 1499136 - 32768)
        self.refused("Out of Memory.*\\n.*\\n.*32768 bytes of a core", ttnn.from_torch,
                     numpy.zeros((2048, 2048), numpy.float32), ttnn.bfloat16, device=narrow,
                     memory_config=ttnn.L1_MEMORY_CONFIG)

    @unittest.skipUnless(torch, "needs python3-torch")
    def test_bits_of_bfloat16_come_from_torch_and_go_back(self):
        every = torch.arange(-2**15, 2**15, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
        for given in (every, every.reshape(256, 256).t()[::2], torch.tensor(1.5, dtype=torch.bfloat16)):
            made = ttnn.to_torch(ttnn.from_torch(given, dtype=ttnn.bfloat16))
            self.assertEqual((made.dtype, made.shape), (torch.bfloat16, given.shape))
            self.assertTrue(torch.equal(made.isnan(), given.isnan()))
            numbers = ~given.isnan()
            self.assertTrue(torch.equal(made[numbers], given[numbers]))


class SpecificationsTest(ValuesCase):
    def spec(self, *where):
        return ttnn.TensorSpec((4, 8, 64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, *where)

    def test_where_a_tensor_lies_may_be_said_in_its_place(self):
        self.assertIs(self.spec(ttnn.BufferType.L1).memory_config.buffer_type, ttnn.BufferType.L1)
        self.assertEqual(self.spec(ttnn.L1_MEMORY_CONFIG).memory_config, ttnn.L1_MEMORY_CONFIG)
        self.assertEqual(self.spec().memory_config, ttnn.DRAM_MEMORY_CONFIG)

    def test_shards_across_dimensions(self):
        for made, shape in ((self.spec().sharded_across_dims([0, 2], GRID), [1, 8, 32, 64]),
                            (self.spec().sharded_across_dims_except([-1], GRID), [1, 1, 32, 64]),
                            (self.spec().sharded((1, 2, 33, 64), GRID), [1, 2, 64, 64])):
            self.assertEqual(made.memory_config.nd_shard_spec.shard_shape, shape)
        made = self.spec(ttnn.BufferType.L1).sharded_across_dims([0], GRID)
        self.assertIs(made.memory_config.buffer_type, ttnn.BufferType.L1)
        x = ttnn.from_torch(numpy.ones((4, 8, 64, 64), numpy.float32), spec=made, device=device)
        self.assertEqual(x.spec, made)
        self.assertIs(self.spec().height_sharded(GRID).memory_config.buffer_type, ttnn.BufferType.DRAM)

    def test_topologies(self):
        made = ttnn.TensorTopology(ttnn.MeshShape(2, 4), [ttnn.PlacementReplicate(),
                                                          ttnn.PlacementShard(3)])
        self.assertEqual(made.placements()[1], ttnn.PlacementShard(3))
        self.assertEqual(len(made.mesh_coords()), 8)


class CoresTest(ValuesCase):
    def test_cores_are_whole_lines_and_a_rest(self):
        def ranges(cores):
            return [(tuple(one.start), tuple(one.end)) for one in cores.ranges()]

        some = ttnn.num_cores_to_corerangeset
        self.assertEqual(ranges(some(18, ttnn.CoreCoord(8, 8), True)),
                         [((0, 0), (7, 1)), ((0, 2), (1, 2))])
        self.assertEqual(ranges(some(10, (8, 8))), [((0, 0), (0, 7)), ((1, 0), (1, 1))])
        self.assertEqual(ranges(some(3, (8, 8), True)), [((0, 0), (2, 0))])
        self.refused("65 cores do not fit", some, 65, (8, 8))
        self.assertEqual([tuple(one) for one in ttnn.grid_to_cores(4, 2, 3)],
                         [(0, 0), (0, 1), (0, 2), (1, 0)])
        parts = ttnn.CoreRangeSet([ttnn.CoreRange((1, 0), (3, 1)), ttnn.CoreRange((5, 0), (6, 3))])
        found = ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(2, 0), 6, parts, True)
        self.assertEqual(ranges(found), [((2, 0), (3, 0)), ((5, 0), (5, 0)), ((1, 1), (3, 1))])

    def test_bytes_of_tiles(self):
        sizes = {"bfloat16": 2048, "float32": 4096, "bfloat8_b": 1088, "bfloat4_b": 576, "uint16": 2048}
        for name, size in sizes.items():
            self.assertEqual(ttnn.Tile([32, 32]).get_tile_size(getattr(ttnn, name)), size)


class WindowsTest(ValuesCase):
    def test_words_of_convolutions(self):
        self.assertEqual(ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dL1Full),
                         ttnn.Conv2dL1FullSliceConfig)
        config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, force_split_reader=True,
                                   override_output_sharding_config=True)
        self.assertTrue(config.force_split_reader)
        made = ttnn.prepare_conv_transpose2d_weights(
            weight_tensor=ttnn.from_torch(numpy.ones((32, 32, 2, 2), numpy.float32)), device=device,
            in_channels=32, out_channels=32, kernel_size=(2, 2), dram_slice_config=None,
            input_height=8, input_width=8, batch_size=1, stride=(2, 2), padding=(0, 0))
        self.assertEqual(made.shape, [1, 1, 128, 32])

    def test_a_transposed_convolution_has_its_activation(self):
        made = ttnn.conv_transpose2d(
            input_tensor=put(numpy.ones((1, 1, 16, 32))), device=device, in_channels=32,
            weight_tensor=ttnn.from_torch(numpy.full((32, 32, 2, 2), -1, numpy.float32)),
            out_channels=32, batch_size=1, input_height=4, input_width=4, kernel_size=(2, 2),
            stride=(2, 2), dtype=ttnn.float32, conv_config=ttnn.Conv2dConfig(
                activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)))
        self.near(made, numpy.zeros((1, 1, 64, 32)))

    def test_a_window_of_one_place_may_have_blocks_of_one_column(self):
        x, w = (numpy.random.default_rng(n).random(shape, numpy.float32) - 0.5
                for n, shape in ((1, (1, 1, 252, 64)), (2, (32, 64, 1, 1))))
        made = ttnn.conv2d(
            input_tensor=put(x, layout=ROWS), weight_tensor=ttnn.from_torch(w), device=device,
            in_channels=64, out_channels=32, batch_size=2, input_height=9, input_width=14,
            kernel_size=(1, 1), dtype=ttnn.float32, conv_config=ttnn.Conv2dConfig(
                shard_layout=ttnn.TensorMemoryLayout.BLOCK_SHARDED))
        self.near(made, x @ w[:, :, 0, 0].T, 1e-4)

    def test_few_large_windows_are_dealt_out_by_what_they_see(self):
        x = numpy.random.default_rng(3).random((1, 1, 224 * 224, 64), numpy.float32)
        made = ttnn.adaptive_avg_pool2d(
            input_tensor=put(x, ttnn.bfloat16, ROWS), batch_size=1, input_h=224, input_w=224,
            channels=64, output_size=[7, 7])
        parts = x.reshape(7, 32, 7, 32, 64).mean((1, 3)).reshape(1, 1, 49, 64)
        self.near(made, parts, 0.01)


class HeadsTest(ValuesCase):
    def test_blocks_have_the_heads_of_their_columns(self):
        x = numpy.arange(32 * 768, dtype=numpy.float32).reshape(1, 1, 32, 768) % 251
        q, k, v = ttnn.experimental.split_query_key_value_and_split_heads(
            put(x), compute_with_storage_grid_size=(8, 8), num_heads=8)
        self.near(k, x[..., 256:512].reshape(32, 8, 32).transpose(1, 2, 0)[None])
        blocks = put(x, memory_config=sharded((1, 1, 32, 768), ttnn.ShardStrategy.BLOCK, 4, 1))
        q, k, v = ttnn.experimental.split_query_key_value_and_split_heads(
            blocks, compute_with_storage_grid_size=(4, 1), num_heads=8)
        wide = x.reshape(32, 4, 3, 2, 32).transpose(2, 1, 3, 0, 4).reshape(3, 1, 8, 32, 32)
        self.near(q, wide[0])
        self.near(k, wide[1].swapaxes(-1, -2))
        self.near(v, wide[2])

    def test_a_latent_step_has_the_first_columns_of_keys_as_values(self):
        rng = numpy.random.default_rng(5)
        q, k = rng.random((1, 2, 4, 64), numpy.float32), rng.random((2, 1, 64, 64), numpy.float32)
        powers = numpy.exp(q[0] @ k[:, 0, :33].swapaxes(-1, -2) / 8)
        expected = (powers / powers.sum(-1, keepdims=True)) @ k[:, 0, :33, :32]
        table = put(numpy.arange(4).reshape(2, 2), ttnn.int32, ROWS)
        pages = k.reshape(2, 2, 32, 64).reshape(4, 1, 32, 64)
        places = put(numpy.array([32, 32]), ttnn.int32, ROWS)
        told = {"head_dim_v": 32, "cur_pos_tensor": places}
        self.near(ttnn.transformer.flash_multi_latent_attention_decode(put(q), put(k), **told),
                  expected[None], 1e-4)
        self.near(ttnn.transformer.paged_flash_multi_latent_attention_decode(
            put(q), put(pages), page_table_tensor=table, **told), expected[None], 1e-4)


@unittest.skipUnless(torch, "needs python3-torch")
class ModulesTest(unittest.TestCase):
    def model(self):
        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
                self.bn = torch.nn.BatchNorm2d(8)
                self.relu = torch.nn.ReLU()

            def forward(self, x):
                return self.relu(self.bn(self.conv(x)))

        return Block()

    def test_a_run_tells_of_every_module(self):
        model = self.model()
        found = ttnn.model_preprocessing.infer_ttnn_module_args(
            model=model, run_model=lambda m: m(torch.rand(1, 3, 8, 8)), device=None)
        self.assertIs(found.bn.module, model.bn)
        self.assertIs(found.relu.module, model.relu)
        self.assertEqual(found.conv.input_height, 8)
        conv = torch.nn.Conv2d(3, 8, 3)
        found = ttnn.model_preprocessing.infer_ttnn_module_args(
            model=conv, run_model=lambda m: m(torch.rand(1, 3, 8, 8)), device=None)
        self.assertEqual(found.input_height, 8)
        self.assertIsInstance(found, ttnn.model_preprocessing.Conv2dArgs)
        whole = ttnn.model_preprocessing.infer_ttnn_module_args(
            model=torch.nn.Sequential(conv), run_model=lambda m: m(torch.rand(1, 3, 8, 8)), device=None)
        self.assertIs(whole["0"], whole[0])
        parameters = ttnn.model_preprocessing.preprocess_model_parameters(
            initialize_model=lambda: conv, run_model=lambda m: m(torch.rand(1, 3, 8, 8)), device=None)
        self.assertEqual(parameters.ttnn_module_args.input_height, 8)

    def test_a_scripts_own_function_prepares_modules_within_others(self):
        seen = []

        def custom(model, name, ttnn_module_args, convert_to_ttnn):
            seen.append((name, ttnn_module_args is not None))
            if not isinstance(model, torch.nn.Sequential):
                return None
            return {"inner": ttnn.model_preprocessing.convert_torch_model_to_ttnn_model(
                model[0], name=f"{name}.0", custom_preprocessor=custom,
                convert_to_ttnn=convert_to_ttnn, ttnn_module_args=ttnn_module_args[0])}

        made = ttnn.model_preprocessing.preprocess_model_parameters(
            initialize_model=lambda: torch.nn.Sequential(self.model()), custom_preprocessor=custom,
            run_model=lambda m: m(torch.rand(1, 3, 8, 8)), device=None)
        self.assertEqual(made.inner.conv.weight.shape, [8, 3, 3, 3])
        self.assertEqual(seen[:2], [("", True), (".0", True)])
        self.assertIn((".0.conv", True), seen)


class GraphsTest(ValuesCase):
    def test_a_graph_says_what_memory_is_taken_and_freed(self):
        where = sharded((1, 1, 64, 64), ttnn.ShardStrategy.HEIGHT, 2)
        ttnn.graph.begin_graph_capture()
        x = put(numpy.ones((1, 1, 64, 64)), ttnn.bfloat16)
        y = ttnn.to_memory_config(x, where)
        place = str(y.buffer_address())
        ttnn.deallocate(x)
        del y
        nodes = ttnn.graph.end_graph_capture()
        self.assertEqual(nodes[1]["params"]["name"], "tt::tt_metal::detail::convert_python_tensor_to_tt_tensor")
        kinds = [node["node_type"] for node in nodes if "buffer" in node["node_type"]]
        self.assertEqual(kinds, ["buffer", "buffer_allocate"] * 2 + ["buffer_deallocate"] * 2)
        taken = [node for node in nodes if node["node_type"] == "buffer_allocate"][1]
        self.assertEqual(taken["params"], {
            "size": "8192", "address": place, "type": "L1", "layout": "HEIGHT_SHARDED", "page_size": "2048",
            "num_cores": "2", "device_id": "0"})
        self.assertEqual(nodes[-2]["connections"], taken["connections"])

    def test_the_calls_of_a_graph_are_plain_data(self):
        x = put(numpy.ones((32, 32)))
        ttnn.graph.begin_graph_capture()
        ttnn.add(x, 2.0)
        from howard.ttnn import graph_tracer_utils

        made = graph_tracer_utils.GraphTracerUtils.serialize_graph(ttnn.graph.end_graph_capture())
        self.assertEqual(made["content"][0]["operation"], "ttnn::add")
        self.assertEqual(made["content"][0]["arguments"][1], {"arg1": "2.0"})


if __name__ == "__main__":
    unittest.main()
