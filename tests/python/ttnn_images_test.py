# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pools, folds and what enlarges images, against plain loops of NumPy; and the models of docs/vision."""

import functools
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import numpy as np

import howard.ttnn as ttnn

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["HOWARD_RUN_EXPERIMENT"]
sys.path.insert(0, str(ROOT / "docs" / "vision"))
import record  # After its folder is known.
RANDOM = np.random.default_rng(0)


def numbers(*shape):
    """Returns numbers that bfloat16 holds."""
    return np.round(RANDOM.standard_normal(shape) * 8).astype(np.float32) / 8


def padded(x, sides, fill=0.0):
    top, bottom, left, right = sides
    return np.pad(x.astype(np.float64), ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)


def stops(x, kernel, stride, dilation):
    """Yields each stop of a window over padded images, with what it sees."""
    rows = (x.shape[1] - dilation * (kernel[0] - 1) - 1) // stride + 1
    columns = (x.shape[2] - dilation * (kernel[1] - 1) - 1) // stride + 1
    for row in range(rows):
        for column in range(columns):
            yield row, column, x[:, row * stride:row * stride + dilation * (kernel[0] - 1) + 1:dilation,
                                 column * stride:column * stride + dilation * (kernel[1] - 1) + 1:dilation]


def convolved(x, weight, bias, stride, padding, dilation, groups):
    out, per_group, *kernel = weight.shape
    part = out // groups
    made = {}
    for row, column, seen in stops(padded(x, (padding,) * 4), kernel, stride, dilation):
        made[row, column] = np.concatenate([np.einsum(
            "nijc,ocij->no", seen[..., g * per_group:(g + 1) * per_group], weight[g * part:(g + 1) * part])
            for g in range(groups)], 1) + bias
    rows, columns = (1 + max(key[i] for key in made) for i in (0, 1))
    return np.stack([made[r, c] for r in range(rows) for c in range(columns)], 1).reshape(-1, out)


def pooled(x, kernel, stride, sides, reduce, fill):
    found = [reduce(seen) for _, _, seen in stops(padded(x, sides, fill), kernel, stride, 1)]
    return np.stack(found, 1).reshape(-1, x.shape[3])


class ImagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = ttnn.open_device(device_id=0)

    @classmethod
    def tearDownClass(cls):
        ttnn.close_device(cls.device)

    def put(self, array, dtype=ttnn.bfloat16):
        flat = array.reshape(1, 1, -1, array.shape[-1])
        return ttnn.from_torch(flat, dtype=dtype, device=self.device)

    def near(self, made, wanted):
        """Expects values within a step of bfloat16."""
        made = made.to_numpy().reshape(wanted.shape).astype(np.float64)
        np.testing.assert_allclose(made, wanted, rtol=2.0 ** -8, atol=2.0 ** -8)

    def conv(self, x, weight, bias=None, groups=1, stride=1, padding=0, dilation=1, **kwargs):
        n, h, w, c = x.shape
        return ttnn.conv2d(
            input_tensor=self.put(x), weight_tensor=weight, bias_tensor=bias, device=self.device, in_channels=c,
            out_channels=kwargs.pop("out_channels"), kernel_size=kwargs.pop("kernel"), stride=stride, padding=padding,
            dilation=dilation, batch_size=n, input_height=h, input_width=w, groups=groups,
            compute_config=ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4), **kwargs)

    def test_convolutions_are_those_of_plain_loops(self):
        for n, h, w, c, out, k, stride, padding, dilation, groups in (
                (2, 8, 8, 32, 64, (3, 3), 1, 1, 1, 1), (1, 9, 7, 16, 32, (3, 3), 2, 1, 1, 2),
                (1, 8, 8, 32, 32, (1, 1), 1, 0, 1, 1), (1, 10, 10, 8, 8, (3, 3), 1, 2, 2, 8),
                (1, 5, 8, 3, 32, (2, 4), 1, 0, 1, 1)):
            with self.subTest((n, h, w, c, out, k, stride, padding, dilation, groups)):
                x, weight, bias = numbers(n, h, w, c), numbers(out, c // groups, *k), numbers(out)
                made, prepared = self.conv(
                    x, ttnn.from_torch(weight, dtype=ttnn.bfloat16),
                    ttnn.from_torch(bias.reshape(1, 1, 1, out), dtype=ttnn.bfloat16), groups, stride, padding,
                    dilation, out_channels=out, kernel=k, return_weights_and_bias=True)
                wanted = convolved(x, weight, bias, stride, padding, dilation, groups)
                self.near(made, wanted)
                self.assertEqual(list(prepared[0].shape), [1, 1, k[0] * k[1] * c, out])
                again = self.conv(x, prepared[0], prepared[1], groups, stride, padding, dilation, out_channels=out,
                                  kernel=k)
                self.near(again, wanted)

    def test_groups_of_0_are_one_group(self):
        x, weight = numbers(1, 4, 4, 8), numbers(8, 8, 3, 3)
        self.near(self.conv(x, ttnn.from_torch(weight, dtype=ttnn.bfloat16), groups=0, out_channels=8, kernel=(3, 3)),
                  convolved(x, weight, 0, 1, 0, 1, 1))

    def test_weights_that_do_not_fit_are_refused(self):
        x, weight = numbers(1, 4, 4, 8), ttnn.from_torch(numbers(8, 4, 3, 3), dtype=ttnn.bfloat16)
        with self.assertRaisesRegex(RuntimeError, r"weights \[8, 4, 3, 3\] are not"):
            self.conv(x, weight, out_channels=8, kernel=(3, 3))
        with self.assertRaisesRegex(RuntimeError, "must be multiples of groups=3"):
            self.conv(x, weight, groups=3, out_channels=8, kernel=(3, 3))
        with self.assertRaisesRegex(RuntimeError, "too small for a window of 5x5"):
            self.conv(x, weight, out_channels=8, kernel=(5, 5))

    def test_results_stay_in_the_shards_that_were_asked_for(self):
        x, weight = numbers(1, 32, 32, 64), ttnn.from_torch(numbers(64, 64, 3, 3), dtype=ttnn.bfloat16)
        for layout in (ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED,
                       ttnn.TensorMemoryLayout.WIDTH_SHARDED):
            made = self.conv(x, weight, padding=1, out_channels=64, kernel=(3, 3),
                             conv_config=ttnn.Conv2dConfig(shard_layout=layout))
            self.assertEqual(made.memory_config().memory_layout, layout)
        far = self.conv(x, weight, padding=1, out_channels=64, kernel=(3, 3), memory_config=ttnn.DRAM_MEMORY_CONFIG)
        self.assertFalse(far.is_sharded())

    def test_the_shards_of_an_input_stay_unless_they_may_change(self):
        weight = ttnn.from_torch(numbers(64, 64, 3, 3), dtype=ttnn.bfloat16)
        config = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=4, y=4), ttnn.ShardStrategy.HEIGHT,
                                                   use_height_and_width_as_shard_shape=True)
        x = ttnn.ones([1, 1, 1024, 64], dtype=ttnn.bfloat16, device=self.device, memory_config=config)
        for changes, layout in ((False, ttnn.TensorMemoryLayout.HEIGHT_SHARDED),
                                (True, ttnn.TensorMemoryLayout.BLOCK_SHARDED)):
            told = ttnn.Conv2dConfig(shard_layout=ttnn.TensorMemoryLayout.BLOCK_SHARDED,
                                     reshard_if_not_optimal=changes)
            made = ttnn.conv2d(input_tensor=x, weight_tensor=weight, device=self.device, in_channels=64, out_channels=64,
                               batch_size=1, input_height=32, input_width=32, kernel_size=(3, 3), conv_config=told)
            self.assertEqual(made.memory_config().memory_layout, layout)

    def test_transposed_convolutions_spread_each_place(self):
        x, weight = numbers(1, 3, 4, 8), numbers(8, 4, 3, 3)
        for mirrored in (True, False):
            wanted = np.zeros([1, 7, 9, 4])
            kernel = weight if mirrored else weight[:, :, ::-1, ::-1]
            for row in range(3):
                for column in range(4):
                    wanted[:, 2 * row:2 * row + 3, 2 * column:2 * column + 3] += np.einsum(
                        "nc,coij->nijo", x[:, row, column].astype(np.float64), kernel)
            made = ttnn.conv_transpose2d(
                input_tensor=self.put(x), weight_tensor=ttnn.from_torch(weight, dtype=ttnn.bfloat16),
                device=self.device, in_channels=8, out_channels=4, kernel_size=(3, 3), stride=(2, 2), batch_size=1,
                input_height=3, input_width=4, mirror_kernel=mirrored)
            self.near(made, wanted)

    def test_pools_take_the_largest_or_the_mean(self):
        x = numbers(2, 7, 9, 32)
        shape = (2, 7, 9, 32)
        made = ttnn.max_pool2d(self.put(x), *shape, [3, 3], [2, 2], [1, 1], [1, 1])
        self.near(made, pooled(x, (3, 3), 2, (1, 1, 1, 1), lambda s: s.max((1, 2)), -np.inf))
        made = ttnn.avg_pool2d(self.put(x), *shape, [3, 3], [2, 2], [1, 1])
        self.near(made, pooled(x, (3, 3), 2, (1, 1, 1, 1), lambda s: s.mean((1, 2)), 0))
        made = ttnn.avg_pool2d(self.put(x), *shape, [3, 3], [2, 2], [1, 1], count_include_pad=False)
        self.near(made, pooled(x, (3, 3), 2, (1, 1, 1, 1), lambda s: np.nanmean(s, (1, 2)), np.nan))
        made = ttnn.avg_pool2d(self.put(x), *shape, [3, 3], [2, 2], [1, 1], divisor_override=5)
        self.near(made, pooled(x, (3, 3), 2, (1, 1, 1, 1), lambda s: s.sum((1, 2)) / 5, 0))

    def test_ceil_mode_adds_a_last_stop(self):
        x = numbers(1, 6, 6, 32)
        made = ttnn.max_pool2d(self.put(x), 1, 6, 6, 32, [3, 3], [2, 2], [0, 0], [1, 1], ceil_mode=True)
        self.near(made, pooled(x, (3, 3), 2, (0, 1, 0, 1), lambda s: s.max((1, 2)), -np.inf))
        made = ttnn.avg_pool2d(self.put(x), 1, 6, 6, 32, [3, 3], [2, 2], [0, 0], True)
        self.near(made, pooled(x, (3, 3), 2, (0, 1, 0, 1), lambda s: np.nanmean(s, (1, 2)), np.nan))

    def test_the_places_of_the_largest_are_those_of_the_image(self):
        x = np.zeros([1, 4, 4, 32], np.float32)
        x[0, 1, 1], x[0, 2, 3] = 5, 7
        made, where = ttnn.max_pool2d(self.put(x), 1, 4, 4, 32, [2, 2], [2, 2], [0, 0], [1, 1], return_indices=True)
        self.assertEqual(made.to_numpy().reshape(4, 32)[:, 0].tolist(), [5, 0, 0, 7])
        self.assertEqual(where.to_numpy().reshape(4, 32)[:, 0].tolist(), [5, 2, 8, 11])

    def test_adaptive_pools_have_pytorchs_windows(self):
        x = numbers(1, 80, 8, 32)
        made = ttnn.adaptive_avg_pool2d(self.put(x), 1, 80, 8, 32, [3, 4])
        wanted = np.stack([x[:, a:b, 2 * i:2 * i + 2].astype(np.float64).mean((1, 2))
                           for a, b in ((0, 27), (26, 54), (53, 80)) for i in range(4)], 1)
        self.near(made, wanted.reshape(-1, 32))
        large = ttnn.ones([1, 1, 56 * 56, 256], device=self.device)  # No core has room for all.
        self.near(ttnn.adaptive_avg_pool2d(large, 1, 56, 56, 256, [1, 1]), np.ones((1, 256)))
        with self.assertRaisesRegex(RuntimeError, "cannot be divided into 7 windows"):
            ttnn.adaptive_max_pool2d(self.put(x), 1, 80, 8, 32, [7, 5])

    def test_upsample_repeats_or_weighs(self):
        x = numbers(1, 3, 4, 32)
        given = ttnn.from_torch(x, dtype=ttnn.bfloat16, device=self.device)
        self.near(ttnn.upsample(given, (2, 3)), x.repeat(2, 1).repeat(3, 2).astype(np.float64))

        def line(side, factor):
            matrix = np.zeros([side * factor, side])
            for i in range(side * factor):
                exact = max((i + 0.5) / factor - 0.5, 0)
                first = int(exact)
                matrix[i, first] += 1 - (exact - first)
                matrix[i, min(first + 1, side - 1)] += exact - first
            return matrix

        wanted = np.einsum("ah,bw,nhwc->nabc", line(3, 2), line(4, 2), x.astype(np.float64))
        self.near(ttnn.upsample(given, 2, mode="bilinear"), wanted)
        with self.assertRaisesRegex(RuntimeError, "Only 'nearest' and 'bilinear'"):
            ttnn.upsample(given, 2, mode="bicubic")

    def test_a_fold_puts_windows_into_channels(self):
        x = numbers(2, 5, 7, 3)
        given = ttnn.from_torch(x, dtype=ttnn.bfloat16, device=self.device)
        made = ttnn.fold(given, 2, 4, padding=[1, 0, 0, 1])
        wide = padded(x, (1, 0, 0, 1)).reshape(2, 3, 2, 2, 4, 3).transpose(0, 1, 3, 2, 4, 5)
        self.near(made, wide.reshape(2, 3, 2, 24))
        self.assertEqual(list(made.shape), [2, 3, 2, 24])
        near = ttnn.to_memory_config(given, ttnn.L1_MEMORY_CONFIG)
        self.assertEqual(list(ttnn.fold(near, 5, 7).shape), [1, 1, 2, 105])


def rows(listed):
    """Yields the rows of a list, those of a repeat as often as it says."""
    def moved(value, turn):
        if isinstance(value, list):
            return [moved(each, turn) for each in value]
        step = re.fullmatch(r"(\d+)([+-]\d+)", str(value))
        return int(step[1]) + turn * int(step[2]) if step else value

    for row in listed:
        repeat = row if isinstance(row, dict) else {"repeat": 1, "of": [row]}
        for turn in range(repeat["repeat"]):
            yield from moved(repeat["of"], turn)


def with_releases_at_the_end(program):
    """Returns a recorded program without repeats whose releases are sorted behind the other commands: Python 3.10 lets
    go of a script's tensors in another order than 3.11 does."""
    program = program | {key: list(rows(program[key])) for key in ("tensors", "calls", "commands")}
    program["commands"].sort(key=lambda command: command[1] if command[0] == "release" else -1)
    return program


@functools.cache
def recorded(script):
    """Records a script of docs/vision as its record.py does, and returns what it printed and the recording."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made.json"
        said = record.record(PROGRAM, script, made)
        return said, with_releases_at_the_end(json.loads(made.read_text(encoding="utf-8")))


class ModelsTest(unittest.TestCase):
    def test_each_script_is_as_the_experiment_has_it(self):
        self.assertEqual(record.SCRIPTS, sorted(path.stem for path in record.RECORDINGS.glob("*.json")))
        for script in record.SCRIPTS:
            kept = json.loads((record.RECORDINGS / f"{script}.json").read_text(encoding="utf-8"))
            self.assertTrue(recorded(script)[1] == with_releases_at_the_end(kept),
                            f"{script}.json is stale: docs/vision/record.py PROGRAM writes it anew")

    def programs_of_a_pass(self, script, published=True):
        """Returns the names of the programs in the trace of a script of docs/vision."""
        said, program = recorded(script)
        if published:
            self.require_near_published(said)
        names, captures = [], False
        for step, number, *_ in program["commands"]:
            captures = step == "begin_trace" or (captures and step != "end_trace")
            if captures and step == "call":
                names.append(program["ops"][program["calls"][number][0]]["name"])
        return names

    def require_near_published(self, said):
        """Requires a pass to take what tt-metal's kernels take, and some 1 us an op between them."""
        name, each = re.search(r"([^:]+): a pass takes [0-9.]+ ms \((\d+)/s\)", said).groups()
        text = (ROOT / "reports" / "published" / "vision.json").read_text(encoding="utf-8")
        kernels, = (row["value"] for table in json.loads(text)["tables"] for row in table["rows"]
                    if table["metric"] == "kernel_samples_per_second" and row["params"]["model"] == name.lower())
        self.assertLess(kernels / float(each), 1.2, said)
        self.assertGreater(kernels / float(each), 1.0, said)

    def test_vit_has_as_many_programs_as_tt_metals(self):
        # tt-metal's 204 have the move of the images into shards, which is before the trace here.
        self.assertEqual(1 + len(self.programs_of_a_pass("vit")), 204)

    def test_resnet_has_53_convolutions_and_a_pool_on_either_side(self):
        names = self.programs_of_a_pass("resnet50")
        self.assertEqual(names.count("conv2d"), 53)
        self.assertEqual((names.count("max_pool2d"), names.count("avg_pool2d")), (1, 1))
        # Windows of 3x3 and 4x4, strides, and both pools need a halo; windows of one place do not.
        self.assertEqual(names.count("halo"), 1 + 16 + 3 + 2)

    def test_results_that_are_to_be_sharded_have_their_operands_shards(self):
        device = ttnn.open_device(device_id=0)
        grid = ttnn.CoreGrid(x=2, y=2)
        x = ttnn.to_memory_config(
            ttnn.zeros([1, 2, 64, 128], dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device),
            ttnn.create_sharded_memory_config([1, 2, 64, 128], grid, ttnn.ShardStrategy.BLOCK))
        block = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG
        for made in (ttnn.layer_norm(x, memory_config=block), ttnn.add(x, x, memory_config=block)):
            self.assertEqual(made.memory_config(), x.memory_config())
        ttnn.close_device(device)

    def test_bert_has_24_layers(self):
        self.assertEqual(self.programs_of_a_pass("bert_large").count("layer_norm"), 1 + 2 * 24)

    def test_embeddings_are_the_layers_of_a_bert_and_a_mean(self):
        for script, layers in (("bge_large", 24), ("sentence_bert", 12)):
            names = self.programs_of_a_pass(script, published=False)
            self.assertEqual((names.count("layer_norm"), names.count("linear")), (1 + 2 * layers, 4 * layers))
            self.assertEqual(names[-1], "multiply", script)

    def test_whispers_decoder_attends_to_tokens_and_to_sound_in_each_layer(self):
        for script, layers in (("whisper_decoder", 32), ("distil_whisper_decoder", 2)):
            names = self.programs_of_a_pass(script, published=False)
            self.assertEqual((names.count("scaled_dot_product_attention_decode"),
                              names.count("scaled_dot_product_attention")), (layers, layers))
        names = self.programs_of_a_pass("whisper_encoder", published=False)
        self.assertEqual((names.count("conv2d"), names.count("scaled_dot_product_attention")), (2, 32))

    def test_vgg_unet_goes_down_and_up_four_times(self):
        names = self.programs_of_a_pass("vgg_unet", published=False)
        self.assertEqual((names.count("conv2d"), names.count("conv_transpose2d")), (16 + 8 + 1, 4))
        self.assertEqual((names.count("max_pool2d"), names.count("concat")), (4, 4))


if __name__ == "__main__":
    unittest.main()
