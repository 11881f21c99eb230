# SPDX-License-Identifier: Apache-2.0
"""Devices, tensors and ops of the package howard, and the engine on them."""

import array
import gc
import random
import unittest
import weakref

import howard
from howard import engine


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

    def test_ops_compute_what_their_names_say(self):
        x = self.device.tensor(buffer_of([[-1, 2], [3, 4]]), dtype="float32")
        ones = howard.full_like(x, 1.0)
        self.assertEqual(howard.relu(x).read().tolist(), [[0, 2], [3, 4]])
        self.assertEqual(howard.gtz(x).read().tolist(), [[0, 1], [1, 1]])
        self.assertEqual(howard.add(x, ones).read().tolist(), [[0, 3], [4, 5]])
        self.assertEqual(howard.subtract(x, 1.0).read().tolist(), [[-2, 1], [2, 3]])
        self.assertEqual(howard.multiply(x, x).read().tolist(), [[1, 4], [9, 16]])
        self.assertEqual(howard.sum(x).read().tolist(), [[8]])
        self.assertEqual(howard.max(x, "columns").read().tolist(), [[2], [4]])
        self.assertEqual(howard.mean(x, "rows").read().tolist(), [[1, 3]])
        self.assertEqual(howard.transpose(x).read().tolist(), [[-1, 3], [2, 4]])
        self.assertEqual(howard.reshape(x, (1, 4)).read().tolist(), [[-1, 2, 3, 4]])
        self.assertEqual(howard.softmax(howard.full_like(x, 7.0)).read()[1, 1], 0.5)
        row = self.device.full((1, 2), 2.0, "float32")
        out, mean, rstd = howard.layernorm(x, row, row, epsilon=0.0)
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
