# SPDX-License-Identifier: Apache-2.0
"""Devices, tensors and ops of the package howard, and the engine on them."""

import array
import ast
import gc
import inspect
import math
import os
import pathlib
import random
import re
import subprocess
import unittest
import weakref

try:
    import numpy
except ImportError:
    numpy = None

import howard
from howard import _native, engine


def matrix(rows, columns, seed):
    draw = random.Random(seed)
    return [[draw.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)]


def buffer_of(rows):
    flat = array.array("f", (value for row in rows for value in row))
    return memoryview(flat).cast("B").cast("f", (len(rows), len(rows[0])))


def transposed(a):
    return [list(column) for column in zip(*a)]


def product(a, b):
    columns = transposed(b)
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


class ModuleTest(unittest.TestCase):
    def setUp(self):
        self.device = howard.open_host(threads=1)

    def test_values_come_back_as_they_were_written(self):
        values = matrix(3, 5, 1)
        tensor = self.device.tensor(buffer_of(values), dtype="float32")
        self.assertEqual(tensor.shape, (3, 5))
        self.assertEqual(tensor.dtype, "float32")
        self.assertEqual(tensor.read().tolist(), buffer_of(values).tolist())

    def test_whole_numbers_have_all_their_bits(self):
        def tensor(kind, dtype, *values):
            view = memoryview(array.array(kind, values)).cast("B").cast(kind, (1, len(values)))
            return self.device.tensor(view, dtype=dtype)

        for kind, dtype, most in (("i", "int32", 2**31 - 1), ("I", "uint32", 2**32 - 1),
                                  ("H", "uint16", 2**16 - 1), ("B", "uint8", 2**8 - 1)):
            with self.subTest(dtype):
                x = tensor(kind, dtype, most, 3)
                self.assertEqual((x.dtype, x.read().tolist()), (dtype, [[most, 3]]))
                made = howard.add(x, tensor(kind, dtype, 1, 1))
                self.assertEqual(made.read().tolist(), [[-2**31 if dtype == "int32" else 0, 4]])
        with self.assertRaisesRegex(howard.Error, "256.*numbers that uint8 has"):
            tensor("i", "uint8", 256)
        with self.assertRaisesRegex(howard.Error, "operand 1, x, is .*real numbers"):
            howard.exp(tensor("i", "int32", 1))

    def test_float64_and_integers_are_converted(self):
        doubles = memoryview(array.array("d", [0.5, 2.0])).cast("B").cast("d", (1, 2))
        self.assertEqual(self.device.tensor(doubles).read().tolist(), [[0.5, 2.0]])
        table = self.device.tensor(
            buffer_of([[1, 2], [3, 4], [5, 6]]), dtype="float32", layout="row_major"
        )
        for kind in "iIqQ":
            indices = memoryview(array.array(kind, [2, 0])).cast("B").cast(kind, (1, 2))
            indices = self.device.tensor(indices, dtype="uint32", layout="row_major")
            looked_up = howard.embedding(indices, table)
            self.assertEqual(looked_up.read().tolist(), [[5, 6], [1, 2]])

    def test_products_take_their_factors_transposed(self):
        a, b = matrix(4, 6, 1), matrix(6, 3, 2)
        expected = product(a, b)
        tensors = [
            self.device.tensor(buffer_of(x), dtype="float32")
            for x in (a, b, transposed(a), transposed(b))
        ]
        results = [
            howard.matmul(tensors[0], tensors[1]),
            howard.matmul(tensors[2], tensors[1], transpose_a=True),
            howard.matmul(tensors[0], tensors[3], transpose_b=True),
            howard.matmul(tensors[2], tensors[3], transpose_a=True, transpose_b=True),
        ]
        for result in results:
            for row, expected_row in zip(result.read().tolist(), expected):
                for value, expected_value in zip(row, expected_row):
                    self.assertAlmostEqual(value, expected_value, places=5)

    def test_any_op_of_the_catalogue_is_called_by_its_name(self):
        x = self.device.tensor(buffer_of([[-1, 2], [3, 8]]), dtype="float32")
        self.assertIn("silu", howard.op_names())
        self.assertEqual(howard.call("clamp:0:6", x).read().tolist(), [[0, 2], [3, 6]])
        self.assertEqual(howard.call("add+relu", x, x).read().tolist(), [[0, 4], [6, 16]])
        kept = howard.call("where", howard.gtz(x), x, x)
        self.assertEqual(kept.read().tolist(), [[-1, 2], [3, 8]])
        for wrong in ("sillu", "clamp:a", "softmax+relu"):
            with self.assertRaises(howard.Error):
                howard.call(wrong, x)
        with self.assertRaises(howard.Error):
            howard.call("add", x)
        with self.assertRaisesRegex(howard.Error, "a scalar; accepted: one of elementwise ops alone"):
            howard.call("softmax", x, scalar=2.0)
        with self.assertRaisesRegex(howard.Error, "no tensor"):
            howard.call("relu")

    def test_every_op_is_a_function_that_says_what_it_takes(self):
        for name in set(howard.op_names()) - {"reshape"}:  # which has another form
            function = getattr(howard, name)
            self.assertIs(function, getattr(howard.ops, name))
            self.assertEqual(function.__name__, name)
            self.assertTrue(function.__doc__.startswith(f"{name}: "), name)
            self.assertLess(len(f"{name}: ."), len(function.__doc__.splitlines()[0]), name)
        self.assertEqual(
            str(inspect.signature(howard.softmax_backward)),
            "(y, dy, *, shape=None, dtype=None, layout=None, output=None)",
        )
        self.assertEqual(
            str(inspect.signature(howard.clamp)).split(", *")[0], "(x, first=-1.0, second=1.0")
        self.assertIn("gamma: real numbers", howard.ttml_layernorm.__doc__)
        self.assertIn("silu", dir(howard))
        with self.assertRaises(AttributeError):
            howard.sillu
        with self.assertRaisesRegex(TypeError, r"silu\(\) missing a required argument: 'x'"):
            howard.silu()

    def test_ops_take_operands_and_fields_by_name(self):
        x = self.device.tensor(buffer_of([[-1, 2], [3, 4]]), dtype="float32")
        row = self.device.tensor(buffer_of([[10, 20]]), dtype="float32")
        self.assertEqual(howard.matmul(x, x, bias=row).read().tolist(), [[17, 26], [19, 42]])
        self.assertEqual(howard.clamp(x, 0, 3.5).read().tolist(), [[0, 2], [3, 3.5]])
        self.assertEqual(howard.clamp(x, first=0).read().tolist(), [[0, 1], [1, 1]])
        self.assertEqual(howard.add(x, x, then=["relu"]).read().tolist(), [[0, 4], [6, 8]])
        self.assertEqual(howard.multiply(x, float("inf")).read().tolist(), [[-math.inf, math.inf], [math.inf] * 2])
        self.assertEqual(howard.concat(x, x, dimension=3).shape, (2, 4))
        with self.assertRaisesRegex(howard.Error, "transposed"):
            howard.call("matmul", x, x, transposed=True)
        with self.assertRaisesRegex(TypeError, "transposed"):
            howard.matmul(x, x, transposed=True)
        self.assertEqual(howard.subtract(x, y=1).read().tolist(), [[-2, 1], [2, 3]])
        self.assertEqual(howard.subtract(x, scalar=1).read().tolist(), [[-2, 1], [2, 3]])
        with self.assertRaisesRegex(TypeError, "give one of them"):
            howard.subtract(x, 1, scalar=2)

    def test_results_are_what_is_asked_for(self):
        x = self.device.tensor(buffer_of([[-1, 2], [3, 4]]), dtype="float32")
        self.assertEqual(howard.cast(x, dtype="bfloat16").dtype, "bfloat16")
        on_chip = howard.open_emulated(values=False).full((2, 2), 1.0, "float32")
        self.assertEqual(howard.exp(on_chip, dtype="bfloat16").dtype, "bfloat16")
        self.assertEqual(howard.untilize(x).read().tolist(), [[-1, 2], [3, 4]])
        ids = self.device.tensor(memoryview(array.array("I", [1, 1])).cast("B").cast("I", (1, 2)),
                                 dtype="uint32", layout="row_major")
        table = howard.embedding_backward(ids, x, shape=(3, 2))
        self.assertEqual(table.read().tolist(), [[0, 0], [2, 6], [0, 0]])
        made = self.device.full((2, 2), 0.0, "float32")
        self.assertIs(howard.add(x, x, output=made), made)
        self.assertEqual(made.read().tolist(), [[-2, 4], [6, 8]])
        for asked in ({"dtype": "int7"}, {"layout": "rows"}, {"shape": (1, 1, 1, 1, 1)}, {"shape": (5, 5)}):
            with self.subTest(asked), self.assertRaises(howard.Error):
                howard.add(x, x, **asked)

    def test_adamw_updates_its_parameter_in_place(self):
        p, g = (self.device.full((1, 2), value, "float32") for value in (1.0, 0.5))
        m, v = (self.device.full((1, 2), 0.0, "float32") for _ in range(2))
        howard.adamw(p, g, m, v, learning_rate=0.1, weight_decay=0.0, step=1, output=[p, m, v])
        # The first step is the learning rate against the sign of the gradient.
        self.assertAlmostEqual(p.read()[0, 0], 0.9, places=5)
        self.assertAlmostEqual(m.read()[0, 1], 0.05, places=6)

    def test_ops_compute_what_their_names_say(self):
        x = self.device.tensor(buffer_of([[-1, 2], [3, 4]]), dtype="float32")
        ones = howard.full_like(x, 1.0)
        self.assertEqual(howard.relu(x).read().tolist(), [[0, 2], [3, 4]])
        self.assertEqual(howard.gtz(x).read().tolist(), [[0, 1], [1, 1]])
        self.assertEqual(howard.add(x, ones).read().tolist(), [[0, 3], [4, 5]])
        self.assertEqual(howard.subtract(x, 1.0).read().tolist(), [[-2, 1], [2, 3]])
        self.assertEqual(howard.multiply(x, x).read().tolist(), [[1, 4], [9, 16]])
        self.assertEqual(howard.sum(x, "all").read().tolist(), [[8]])
        self.assertEqual(howard.max(x, "columns").read().tolist(), [[2], [4]])
        self.assertEqual(howard.mean(x, "rows").read().tolist(), [[1, 3]])
        self.assertEqual(howard.transpose(x).read().tolist(), [[-1, 3], [2, 4]])
        self.assertEqual(howard.reshape(x, (1, 4)).read().tolist(), [[-1, 2, 3, 4]])
        self.assertEqual(howard.softmax(howard.full_like(x, 7.0)).read()[1, 1], 0.5)
        row = self.device.full((1, 2), 2.0, "float32")
        out, mean, rstd = howard.ttml_layernorm(x, row, row, epsilon=0.0)
        self.assertAlmostEqual(out.read()[0, 0], 0.0, places=5)
        self.assertEqual(mean.read().tolist(), [[0.5], [3.5]])
        self.assertAlmostEqual(rstd.read()[0, 0], 1 / 1.5, places=5)

    def test_a_replayed_trace_computes_on_what_its_tensors_hold_now(self):
        x = self.device.full((2, 2), 3.0, "float32")
        howard.square(x)
        self.device.begin_trace_capture()
        y = howard.square(x)
        trace = self.device.end_trace_capture()
        x.write(buffer_of([[5, 5], [5, 5]]))
        self.device.execute_trace(trace)
        self.assertEqual(y.read()[0, 0], 25)
        self.device.release_trace(trace)
        with self.assertRaises(howard.Error):
            self.device.execute_trace(trace)

    def test_a_tensor_keeps_its_device_open(self):
        tensor = howard.full_like(howard.open_host(threads=1).full((2, 2), 0.0), 4.0)
        self.assertEqual(tensor.read()[1, 1], 4)

    def test_errors_say_what_would_have_been_accepted(self):
        a = self.device.full((2, 3), 1.0)
        elsewhere = howard.open_host(threads=1).full((2, 3), 1.0)
        strided = buffer_of(matrix(4, 1, 1))[::2]
        for attempt, text in [
            (lambda: howard.matmul(a, a), "cannot multiply matrices: 2x3 bfloat16 by 2x3"),
            (lambda: howard.add(a, elsewhere), "its tensors are on two devices"),
            (lambda: howard.sum(a, "diagonal"), "accepted: columns, rows, batch, all"),
            (lambda: self.device.full((1, 1, 1, 1, 1), 0.0), "5 dimensions; accepted: one to four"),
            (lambda: self.device.full((0, 3), 0.0), "cannot"),
            (lambda: a.write(b"abc"), "elements of format 'B'; accepted: float32"),
            (lambda: a.write(buffer_of([[1.0]])), "1 values"),
            (lambda: self.device.tensor(strided), "do not lie row by row"),
            (lambda: self.device.tensor(buffer_of([[1]]), dtype="int7"), "accepted: "),
            (lambda: howard.open_emulated(dispatch="tree"), "accepted: worker, eth"),
            (lambda: howard.open_host(threads=-3), "threads"),
            (lambda: self.device.stop_recording(), "nothing is being recorded"),
        ]:
            with self.subTest(text), self.assertRaises(howard.Error) as raised:
                attempt()
            self.assertIn(text, str(raised.exception))


    def test_an_error_has_its_four_parts(self):
        with self.assertRaises(RuntimeError) as raised:
            howard.sum(self.device.full((2, 3), 1.0), "diagonal")
        error = raised.exception
        self.assertIs(type(error), howard.Error)
        self.assertEqual(error.attempted, "read the arguments of sum at /dimension")
        self.assertEqual(error.value, '"diagonal"')
        self.assertEqual(error.accepted, "columns, rows, batch, all")
        self.assertEqual(error.hint, "")

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_numpy_arrays_go_in_and_out(self):
        values = numpy.arange(6, dtype=numpy.float64).reshape(2, 3)
        tensor = self.device.tensor(values, dtype="float32")
        for out in (tensor.numpy(), numpy.asarray(tensor)):
            self.assertEqual(out.dtype, numpy.float32)
            numpy.testing.assert_array_equal(out, values)
            out += 1  # its own memory
        numpy.testing.assert_array_equal(tensor.numpy(), values)
        self.assertEqual(numpy.asarray(tensor, dtype=numpy.int64).dtype, numpy.int64)
        tensor.write(values.astype(numpy.float32) * 2)
        numpy.testing.assert_array_equal(tensor.numpy(), values * 2)

    def test_tensors_and_classes_have_the_packages_name(self):
        tensor = self.device.full((2, 3), 1.0)
        self.assertEqual(repr(tensor), "<howard.Tensor 2x3 bfloat16 on host CPU, 1 thread>")
        for one in (howard.Device, howard.Tensor, howard.Error):
            self.assertEqual(one.__module__, "howard")


class Declarations:
    """The names of howard/_native.pyi, with the arguments of each overload of each function."""

    def __init__(self):
        file = pathlib.Path(howard.__file__).with_name("_native.pyi")
        self.functions, self.names = {}, set()
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                self.functions.setdefault(node.name, []).append(self.arguments(node))
            elif isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, ast.FunctionDef):
                        name = f"{node.name}.{member.name}"
                        self.functions.setdefault(name, []).append(self.arguments(member))
                self.names.add(node.name)

    @staticmethod
    def arguments(node):
        given = node.args
        defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
        found = [(one.arg, value is not None) for one, value in zip(given.args, defaults)]
        if given.vararg is not None:
            found.append(("*" + given.vararg.arg, False))
        found += [
            (one.arg, value is not None) for one, value in zip(given.kwonlyargs, given.kw_defaults)
        ]
        return [one for one in found if one[0] != "self"]


def signatures(function, name):
    """The same of a compiled function, whose docstring begins with its signatures."""
    found = []
    for text in re.findall(rf"^(?:\d+\. )?{name}\((.*)\) -> ", function.__doc__, re.MULTILINE):
        parts = re.split(r", (?=[a-z_0-9]+:|\*)", text) if text else []
        found.append(
            [
                (part.split(":")[0], " = " in part)
                for part in parts
                if part != "*" and not part.startswith("self")
            ]
        )
    return found


class PackageTest(unittest.TestCase):
    def test_stubs_say_what_is_compiled(self):
        declared = Declarations()
        compiled = {name for name in vars(_native) if not name.startswith("_")}
        functions = {name for name in declared.functions if "." not in name and not name.startswith("_")}
        self.assertEqual(compiled, functions | declared.names)
        for name in sorted(functions):
            found = signatures(getattr(_native, name), name)
            self.assertEqual(sorted(found), sorted(declared.functions[name]), name)

    def test_stubs_have_the_members_of_the_classes(self):
        declared = Declarations()
        for made in (howard.Device, howard.Tensor):
            members = {name for name in vars(made) if not name.startswith("_")}
            stubbed = {
                name.split(".")[1] for name in declared.functions if name.startswith(made.__name__)
            }
            self.assertEqual(members, stubbed - {"__array__"})

    def test_every_function_says_what_it_does(self):
        for name in howard.__all__:
            if name == "__version__":
                continue
            words = re.sub(r"^.*\) -> .*$", "", getattr(howard, name).__doc__, flags=re.MULTILINE)
            self.assertGreater(len(words.split()), 4, name)

    def test_what_is_compiled_is_in_the_package(self):
        internal = {"experiments", "run", "explain", "analyze"}
        compiled = {name for name in vars(_native) if not name.startswith("_")}
        plain = {"__version__", "call", "now", "op_constraints", "op_queries", "op_time", "ops", "region"}
        self.assertEqual(compiled | internal | plain, set(howard.__all__))

    def test_the_version_is_the_programs(self):
        program = [os.environ["HOWARD_RUN_EXPERIMENT"], "--version"]
        said = subprocess.run(program, stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertIn(f"howard {howard.__version__} ", said)


class EngineTest(unittest.TestCase):
    def test_gradients_are_those_of_float64(self):
        size = 32
        device = howard.open_host(threads=1)
        mlp = engine.Mlp(device, size, size, dtype="float32")
        x, target, w1, w2 = (matrix(size, size, seed) for seed in range(4))
        for node, values in zip((mlp.x, mlp.target, *mlp.weights), (x, target, w1, w2)):
            node.tensor.write(buffer_of(values))
        loss = mlp.loss()
        loss.backward()

        before = product(x, w1)
        hidden = [[max(value, 0.0) for value in row] for row in before]
        difference = [
            [a - b for a, b in zip(*rows)] for rows in zip(product(hidden, w2), target)
        ]
        mean = sum(value * value for row in difference for value in row) / size**2
        self.assertAlmostEqual(loss.tensor.read()[0, 0] / mean, 1, places=5)
        upstream = [[2 * value / size**2 for value in row] for row in difference]
        through = [
            [gradient * (value > 0) for gradient, value in zip(*rows)]
            for rows in zip(product(upstream, transposed(w2)), before)
        ]
        expected = product(transposed(x), through), product(transposed(hidden), upstream)
        for node, values in zip(mlp.weights, expected):
            scale = max(abs(value) for row in values for value in row)
            for row, expected_row in zip(node.gradient.read().tolist(), values):
                for value, expected_value in zip(row, expected_row):
                    self.assertLess(abs(value - expected_value), 1e-5 * scale)

        weight = mlp.weights[0].tensor.read()[3, 4]
        gradient = mlp.weights[0].gradient.read()[3, 4]
        mlp.optimizer.update()
        self.assertAlmostEqual(mlp.weights[0].tensor.read()[3, 4], weight - 0.01 * gradient)

    def test_a_value_that_is_used_twice_gets_the_sum_of_its_gradients(self):
        device = howard.open_host(threads=1)
        x = engine.parameter(device.full((1, 1), 3.0, "float32"))
        engine.matmul(x, x).backward()
        self.assertEqual(x.gradient.read()[0, 0], 6)

    def test_a_step_makes_the_reports_calls_in_its_order(self):
        device = howard.open_emulated(values=False)
        mlp = engine.Mlp(device, 1024, 512)
        mlp.step()
        device.start_recording()
        mlp.step()
        events = device.stop_recording()
        launched = [event["name"] for event in events if event["track"] == "sub_device"]
        # The sum over all is two programs, and the other calls one each.
        update = ["fill", "multiply", "subtract"]
        self.assertEqual(
            launched,
            ["matmul", "relu", "matmul", "subtract", "multiply", "sum", "sum", "multiply"]
            + ["fill", "multiply", "matmul", "matmul", "gtz", "multiply", "matmul"]
            + 2 * update,
        )
        self.assertEqual(sum(event["name"] == "python" for event in events), 20)

    def test_before_products_transposed_a_step_launched_three_programs_more(self):
        device = howard.open_emulated(values=False, settings=["matmul.fuses_transposes=0count"])
        mlp = engine.Mlp(device, 1024, 512)
        device.start_recording()
        mlp.step()
        events = device.stop_recording()
        self.assertEqual(sum(event["track"] == "sub_device" for event in events), 24)

    def test_the_emulated_chip_gives_the_hosts_values(self):
        losses = []
        for device in (howard.open_host(), howard.open_emulated()):
            mlp = engine.Mlp(device, 64, 32)
            losses.append([mlp.step().read()[0, 0] for _ in range(3)])
        self.assertEqual(losses[0], losses[1])
        self.assertGreater(losses[0][0], 0)

    def test_training_lowers_the_loss(self):
        mlp = engine.Mlp(howard.open_host(threads=1), 64, 32, dtype="float32")
        losses = [mlp.step().read()[0, 0] for _ in range(20)]
        self.assertLess(losses[-1], losses[0])

    def test_a_graph_goes_without_the_garbage_collector(self):
        mlp = engine.Mlp(howard.open_host(threads=1), 32, 32)
        gc.collect()
        gc.disable()
        try:
            loss = mlp.loss()
            loss.backward()
            hidden = weakref.ref(loss.parents[0].parents[0])
            self.assertIsNotNone(hidden())
            del loss
            self.assertIsNone(hidden())
        finally:
            gc.enable()


if __name__ == "__main__":
    unittest.main()
