# SPDX-License-Identifier: Apache-2.0
"""Every op and device function with arguments that nobody should give: each call returns or raises.

An abort would end this process, and with it the test.
"""

import gc
import itertools
import math
import unittest

import howard

DTYPES = ("bfloat16", "float32", "bfloat8_b", "uint32")
SHAPES = ((1, 1), (2, 3), (3, 2), (32, 32), (1, 96), (2, 1, 4, 6), (2, 2, 4, 6))
NUMBERS = (0, 1, -1, 3, 2**31 - 1, -(2**31), 2**63 - 1)
FLOATS = (0.0, -1.0, 1.0, 0.5, 1e38, -1e-45, math.nan, math.inf, -math.inf)
WORDS = ("", "columns", "rows", "batch", "all", "tile", "row_major", "float32", "x" * 10000, "\0")

UNARY = ("relu", "gtz", "square", "exp", "erf", "gelu", "sqrt", "rsqrt", "reciprocal", "softmax")
BINARY = ("add", "subtract", "multiply", "matmul", "gelu_backward", "softmax_backward")


def tensors(device):
    """One of each data type, shape and layout that a device takes."""
    found = []
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        try:
            found.append(device.full(shape, 1.0, dtype))
        except howard.Error:
            pass
    indices = memoryview(bytes(8 * 6)).cast("q", (2, 3))
    found.append(device.tensor(indices, dtype="uint32", layout="row_major"))
    table = memoryview(bytes(4 * 6)).cast("f", (2, 3))
    found.append(device.tensor(table, dtype="float32", layout="row_major"))
    return found


class HostileTest(unittest.TestCase):
    def attempt(self, function, *arguments, **keywords):
        try:
            return function(*arguments, **keywords)
        except (howard.Error, TypeError, MemoryError):
            return None

    def finish(self, device):
        try:
            device.finish()
        except howard.Error:
            pass  # of an op that failed when it ran: an index outside of a table

    def sweep(self, device):
        some = tensors(device)
        for name, a in itertools.product(UNARY, some):
            self.attempt(getattr(howard, name), a)
        self.finish(device)
        for name, a, b in itertools.product(BINARY, some, some):
            self.attempt(getattr(howard, name), a, b)
        self.finish(device)
        for a in some:
            for number in NUMBERS:
                self.attempt(howard.split_heads, a, number)
                self.attempt(howard.embedding_backward, some[-2], a, number)
                self.attempt(howard.dropout, a, 0.5, number)
                self.attempt(howard.reshape, a, (number, number))
                self.attempt(howard.reshape, a, [number] * 5)
            for number in FLOATS:
                self.attempt(howard.full_like, a, number)
                self.attempt(howard.add, a, number)
                self.attempt(howard.dropout, a, number, 1)
                self.attempt(howard.layernorm, a, number)
                self.attempt(howard.cross_entropy_backward, a, some[-2], number)
            for word in WORDS:
                for function in (howard.sum, howard.cast, howard.transpose, howard.to_layout):
                    self.attempt(function, a, word)
            self.attempt(howard.concat_heads, a)
            self.attempt(howard.reshape, a, ())
            self.attempt(a.read)
            self.finish(device)
        for a, b in itertools.product(some, some):
            self.attempt(howard.embedding, a, b)
            self.attempt(howard.cross_entropy, a, b)
            self.attempt(howard.layernorm, a, b, b)
            self.attempt(howard.layernorm_backward, a, b, b, b, a)
            self.attempt(howard.matmul, a, b, transpose_a=True, bias=a, fidelity="x")
            self.attempt(howard.adamw, a, b, b, a, step=1)
            self.finish(device)

    def test_ops_on_the_host(self):
        self.sweep(howard.open_host(threads=1))

    def test_ops_on_the_emulator_with_values(self):
        self.sweep(howard.open_emulated())

    def test_ops_on_the_emulator_without_values(self):
        self.sweep(howard.open_emulated(values=False))

    def devices(self):
        return (
            howard.open_host(threads=1),
            howard.open_emulated(),
            howard.open_emulated(values=False, dispatch="eth"),
        )

    def test_adamw_with_any_numbers(self):
        for device in self.devices():
            a = device.full((2, 3), 1.0, "float32")
            for number in NUMBERS:
                self.attempt(howard.adamw, a, a, a, a, step=number)
            for number in FLOATS:
                for name in ("learning_rate", "beta1", "beta2", "epsilon", "weight_decay"):
                    self.attempt(howard.adamw, a, a, a, a, step=1, **{name: number})
            self.finish(device)

    def test_traces_out_of_order(self):
        for device in self.devices():
            a = device.full((2, 3), 1.0)
            for number in NUMBERS:
                self.attempt(device.execute_trace, number)
                self.attempt(device.release_trace, number)
            self.attempt(device.end_trace_capture)
            self.attempt(howard.relu, a)
            device.begin_trace_capture()
            self.attempt(device.begin_trace_capture)
            for forbidden in (device.finish, a.read, device.start_recording, device.stop_recording):
                self.attempt(forbidden)
            self.attempt(a.write, memoryview(bytes(24)).cast("f", (2, 3)))
            self.attempt(device.full, (2, 3), 1.0)
            self.attempt(device.execute_trace, 0)
            self.attempt(howard.softmax, a)  # not compiled before the capture
            b = self.attempt(howard.relu, a)
            trace = self.attempt(device.end_trace_capture)
            del a, b
            gc.collect()
            if trace is not None:
                for _ in range(3):
                    self.attempt(device.execute_trace, trace)
                self.attempt(device.release_trace, trace)
                self.attempt(device.release_trace, trace)
            self.finish(device)

    def test_a_device_is_dropped_while_it_captures_and_while_it_computes(self):
        for device in self.devices():
            a = device.full((256, 256), 1.0)
            for _ in range(20):
                howard.matmul(a, a)
            device.begin_trace_capture()
            self.attempt(howard.relu, a)
        del device, a
        gc.collect()

    def test_shapes_and_values_that_no_device_has(self):
        for device in self.devices():
            for shape in itertools.chain(itertools.product(NUMBERS, NUMBERS), ((), (1,) * 5, (2**24,) * 2)):
                if shape == (2**31 - 1, 1) or shape == (1, 2**31 - 1):
                    continue
                for dtype in DTYPES:
                    self.attempt(device.full, shape, 1.0, dtype)
            for number in FLOATS:
                for dtype in DTYPES:
                    tensor = self.attempt(device.full, (2, 2), number, dtype)
                    self.attempt(lambda tensor=tensor: tensor and tensor.read())

    def test_buffers_of_every_kind(self):
        for device in self.devices():
            target = device.full((2, 3), 1.0)
            indices = self.attempt(device.full, (2, 3), 1.0, "uint32")
            for kind in "bBhHiIlLqQfd?c":
                size = memoryview(bytes(48)).cast(kind).itemsize
                for shape in ((2, 3), (6,), (1, 2, 3), (1, 1, 1, 2, 3), (2, 2)):
                    buffer = memoryview(bytes(size * math.prod(shape))).cast(kind, shape)
                    for dtype in DTYPES:
                        self.attempt(device.tensor, buffer, dtype)
                        self.attempt(device.tensor, buffer, dtype, "row_major")
                    self.attempt(target.write, buffer)
                    if indices is not None:
                        self.attempt(indices.write, buffer)
            for junk in (b"", "text", None, 3, [1, 2], [[1.0]], object()):
                self.attempt(device.tensor, junk)
                self.attempt(target.write, junk)

    def test_devices_that_cannot_be_opened(self):
        for threads in NUMBERS:
            if threads > 3:
                continue
            self.attempt(howard.open_host, threads)
        for words in ([""], ["x=y"], ["host.op_call=-1us"], ["host.op_call=1e400us"], ["a" * 10000]):
            self.attempt(howard.open_emulated, settings=words)
            self.attempt(howard.open_emulated, profiles=words)
        self.attempt(howard.open_emulated, dispatch="\0")

    def test_classes_without_an_object(self):
        for make in (howard.Device, howard.Tensor):
            with self.assertRaises(TypeError):
                make()
        bare = howard.Tensor.__new__(howard.Tensor)
        for use in (bare.read, bare.numpy, lambda: bare.shape, lambda: howard.relu(bare)):
            self.attempt(use)


if __name__ == "__main__":
    unittest.main()
