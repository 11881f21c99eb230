# SPDX-License-Identifier: Apache-2.0
"""What ops on whole numbers give beyond the 24 bits that float32 has, against numbers worked out by
hand as PyTorch's int32 and uint32 have them; what casts give is what cards give."""

import itertools
import math
import threading
import unittest
import warnings

import numpy

import howard.ttnn as ttnn
from ttnn_values_case import ROWS, TILE, ValuesCase, device, get, put

LARGE = [16777217, 123456789, 2147483646, -2147483647]


def signed(*values):
    return put(numpy.array([values], numpy.int64), ttnn.int32)


def unsigned(*values):
    return put(numpy.array([values], numpy.int64), ttnn.uint32)


def listed(tensor):
    return tensor.to_list()[0]


def wrapped(number):
    return (number + 2**31) % 2**32 - 2**31


class ScalarsTest(ValuesCase):
    def test_a_number_beside_int32_keeps_all_bits(self):
        x = signed(*LARGE)
        for name, number, expected in (
                ("add", 2, lambda v: v + 2), ("subtract", 3, lambda v: v - 3),
                ("rsub", 3, lambda v: 3 - v), ("multiply", 1, lambda v: v),
                ("multiply", 3, lambda v: 3 * v), ("maximum", -2, lambda v: max(v, -2)),
                ("minimum", 2147483645, lambda v: min(v, 2147483645)),
                ("bitwise_and", 16777217, lambda v: v & 16777217),
                ("bitwise_or", 16777216, lambda v: v | 16777216),
                ("bitwise_xor", 2147483647, lambda v: v ^ 2147483647),
                ("bitwise_left_shift", 3, lambda v: v << 3),
                ("bitwise_right_shift", 1, lambda v: v >> 1),
                ("logical_left_shift", 5, lambda v: v << 5),
                ("logical_right_shift", 1, lambda v: (v % 2**32) >> 1),
                ("squared_difference", 5, lambda v: (v - 5)**2), ("pow", 3, lambda v: v**3),
                ("gcd", 3, lambda v: math.gcd(v, 3)), ("eq", 16777217, lambda v: v == 16777217),
                ("gt", 16777216, lambda v: v > 16777216), ("ne", 2147483647, lambda v: v != 2147483647)):
            with self.subTest(name, number=number):
                made = listed(getattr(ttnn, name)(x, number))
                self.assertEqual(made, [wrapped(int(expected(v))) for v in LARGE])
                if name not in ("pow",):
                    other = signed(*[number] * len(LARGE))
                    self.assertEqual(listed(getattr(ttnn, name)(x, other)), made, "of a tensor")

    def test_a_number_beside_uint32_keeps_all_bits(self):
        values = [33554433, 4294967295, 2147483649, 0]
        x = unsigned(*values)
        for name, number, expected in (
                ("add", 1, lambda v: v + 1), ("subtract", 1, lambda v: v - 1),
                ("multiply", 3, lambda v: 3 * v), ("maximum", 2147483648, lambda v: max(v, 2**31)),
                ("minimum", 4294967294, lambda v: min(v, 2**32 - 2)),
                ("bitwise_and", 2147483649, lambda v: v & 2147483649),
                ("bitwise_or", 2147483648, lambda v: v | 2**31),
                ("bitwise_left_shift", 1, lambda v: v << 1),
                ("logical_right_shift", 4, lambda v: v >> 4),
                ("gt", 2147483648, lambda v: v > 2**31)):
            with self.subTest(name, number=number):
                made = listed(getattr(ttnn, name)(x, number))
                self.assertEqual(made, [int(expected(v)) % 2**32 for v in values])

    def test_operators_and_numbers_first_keep_all_bits(self):
        x = signed(*LARGE)
        self.assertEqual(listed(x + 1), [wrapped(v + 1) for v in LARGE])
        self.assertEqual(listed(x * 1), LARGE)
        self.assertEqual(listed(5 + x), [wrapped(v + 5) for v in LARGE])
        self.assertEqual(listed(ttnn.clamp(x, 5, 2147483647)), [max(v, 5) for v in LARGE])
        self.assertEqual(listed(ttnn.add(x, 2.0)), [wrapped(v + 2) for v in LARGE], "a whole float")

    def test_a_number_is_one_of_32_bits(self):
        self.assertEqual(listed(ttnn.add(signed(1), 2**32 - 1)), [0])
        self.assertEqual(listed(ttnn.maximum(unsigned(7), -2)), [4294967294])
        self.assertEqual(listed(ttnn.add(put([[1.5]]), 2**40)), [2.0**40])

    def test_rows_of_any_width_are_as_exact_as_tiles(self):
        values = [2147483600 + i for i in range(33)]
        x = put(numpy.array([values] * 3), ttnn.int32, ROWS)
        self.assertEqual(ttnn.add(x, 1).to_list(), [[v + 1 for v in values]] * 3)
        self.assertEqual(ttnn.maximum(x, 2147483601).to_list()[2][:3], [2147483601] * 2 + [2147483602])

    def test_two_whole_types_together_are_exact(self):
        a, b = signed(16777217, -5), unsigned(16777216, 3)
        self.assertEqual(listed(ttnn.add(a, b)), [33554433, -2])
        self.assertEqual(listed(ttnn.maximum(a, b)), [16777217, 3])
        self.assertEqual(listed(ttnn.multiply(signed(16777217, 3), put([[1.0, 0.5]]))), [16777217, 1])


class CastsTest(ValuesCase):
    def cast(self, values, kind, to):
        return listed(ttnn.typecast(put(numpy.array([values]), kind), to))

    def test_what_does_not_fit_saturates(self):
        f32, u16 = ttnn.float32, ttnn.uint16
        self.assertEqual(self.cast([100, 65536, 1000000], ttnn.uint32, u16), [100, 65535, 65535])
        self.assertEqual(self.cast([-3, 70000], ttnn.int32, u16), [0, 65535])
        self.assertEqual(self.cast([-3.7, 70000.0], f32, u16), [0, 65535])
        self.assertEqual(self.cast([-3.0], ttnn.bfloat16, u16), [0])
        self.assertEqual(self.cast([-3.7, 70000.0, 5e9, math.inf], f32, ttnn.uint32),
                         [0, 70000, 2**32 - 1, 2**32 - 1])
        self.assertEqual(self.cast([3e9, math.inf, -3e9, -2.5], f32, ttnn.int32),
                         [2**31 - 1, 2**31 - 1, -2**31, -2])

    def test_uint16_takes_the_nearest(self):
        self.assertEqual(self.cast([2.5, 3.7, 0.5, 1.2], ttnn.bfloat16, ttnn.uint16), [3, 4, 1, 1])
        self.assertEqual(self.cast([2.5, 3.7, 0.5, 1.2], ttnn.float32, ttnn.uint32), [2, 3, 0, 1])

    def test_types_of_32_bits_exchange_them(self):
        self.assertEqual(self.cast([-1, 16777217], ttnn.int32, ttnn.uint32), [2**32 - 1, 16777217])
        self.assertEqual(self.cast([2**32 - 1], ttnn.uint32, ttnn.int32), [-1])
        self.assertEqual(self.cast([255, 256], ttnn.int32, ttnn.uint8), [255, 0])


class IndicesTest(ValuesCase):
    def test_arrays_of_64_bits_are_uint32(self):
        ids = numpy.array([[1, 2, 3]], numpy.int64)
        self.assertIs(ttnn.from_torch(ids).dtype, ttnn.uint32)
        self.assertIs(ttnn.Tensor(ids).dtype, ttnn.uint32)
        self.assertIs(ttnn.Tensor(ids.astype(numpy.int16)).dtype, ttnn.uint16)
        self.assertIs(ttnn.from_torch(ids.astype(numpy.int32)).dtype, ttnn.int32)

    def test_embedding_takes_uint32_and_bfloat16(self):
        table = put(numpy.arange(20.0).reshape(10, 2), ttnn.bfloat16, ROWS)
        ids = numpy.array([[1, 2, 7]], numpy.int64)
        for kind in (None, ttnn.uint32, ttnn.bfloat16):
            found = ttnn.embedding(ttnn.from_torch(ids, dtype=kind, layout=ROWS, device=device), table)
            self.near(found, [[[2, 3], [4, 5], [14, 15]]])
        for kind in (ttnn.int32, ttnn.uint16):
            given = ttnn.from_torch(ids, dtype=kind, layout=ROWS, device=device)
            self.refused(f"UINT32 or BFLOAT16, and the indices are {kind.name}", ttnn.embedding, given,
                         table)

    def test_the_gradient_of_an_embedding_takes_bfloat16(self):
        table, gradient = put(numpy.zeros((4, 32))), put(numpy.ones((1, 1, 32, 32)))
        ids = numpy.array([[3] * 30 + [1] * 2], numpy.int64)
        for kind in (ttnn.uint32, ttnn.bfloat16):
            given = ttnn.from_torch(ids, dtype=kind, layout=ROWS, device=device)
            made = get(ttnn.embedding_bw(given, table, gradient))
            self.assertEqual(made[0, 0, :, 0].tolist(), [0, 2, 0, 30])


class EveryTypeTest(ValuesCase):
    """Ops on two of the numbers that a type has, against Python's own whole numbers."""

    KINDS = {ttnn.int32: (-2**31, 2**31), ttnn.uint32: (0, 2**32), ttnn.uint16: (0, 2**16),
             ttnn.uint8: (0, 2**8)}
    FUNCTIONS = {
        "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "rsub": lambda a, b: b - a,
        "multiply": lambda a, b: a * b, "squared_difference": lambda a, b: (a - b)**2,
        "maximum": max, "minimum": min, "eq": lambda a, b: a == b, "lt": lambda a, b: a < b,
        "ge": lambda a, b: a >= b, "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b,
        "bitwise_xor": lambda a, b: a ^ b, "gcd": math.gcd}

    def numbers(self, kind):
        low, end = self.KINDS[kind]
        drawn = numpy.random.default_rng(1).integers(low, end, (2, 60)).tolist()
        return [drawn[0] + [low, end - 1, 0, 1], drawn[1] + [end - 1, end - 1, low, 1]]

    def expect(self, kind, made, expected):
        low, end = self.KINDS[kind]
        self.assertEqual(made.dtype, kind)
        self.assertEqual(numpy.ravel(made.to_list()).tolist(),
                         [(int(v) - low) % (end - low) + low for v in expected])

    def test_two_numbers(self):
        for kind in self.KINDS:
            a, b = self.numbers(kind)
            for name, function in self.FUNCTIONS.items():
                with self.subTest(name, kind=kind):
                    op = getattr(ttnn, name)
                    self.expect(kind, op(put([a], kind), put([b], kind)), map(function, a, b))
                    self.expect(kind, op(put([a], kind), b[0]), [function(one, b[0]) for one in a])

    def test_a_row(self):
        for kind in self.KINDS:
            a, b = self.numbers(kind)
            x = put([a], kind)
            for name, function in (("sum", sum), ("max", max), ("min", min)):
                self.expect(kind, getattr(ttnn, name)(x, -1), [function(a)])
            self.expect(kind, ttnn.cumsum(x, 1), itertools.accumulate(a))
            self.expect(kind, ttnn.sort(x, -1)[0], sorted(a))
            self.expect(kind, ttnn.topk(x, 8)[0], sorted(a)[:-9:-1])
            chosen = ttnn.where(put([[1, 0] * (len(a) // 2)], kind), x, put([b], kind))
            self.expect(kind, chosen, [one[i % 2] for i, one in enumerate(zip(a, b))])


class MovesTest(unittest.TestCase):
    def test_a_move_takes_the_place_that_it_leaves(self):
        device = ttnn.open_device(device_id=1, trace_region_size=1 << 20)
        self.addCleanup(ttnn.close_device, device)
        trace = ttnn.begin_trace_capture(device)  # A device with a trace looks addresses up.
        ttnn.end_trace_capture(device, trace)
        for config in (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG):
            x = ttnn.ones([64, 64], layout=TILE, device=device, memory_config=config)
            address = x.buffer_address()
            for move in (ttnn.reallocate, ttnn.move):
                x = move(x)
                self.assertEqual((x.buffer_address(), x.to_list()[1][1]), (address, 1))


class RegionTest(unittest.TestCase):
    def test_the_region_has_all_traces_that_are_alive(self):
        device = ttnn.open_device(device_id=1, trace_region_size=5 << 12)
        self.addCleanup(ttnn.close_device, device)
        x = ttnn.ones([32, 32], layout=TILE, device=device)
        ttnn.neg(x)

        def captured(calls):
            trace = ttnn.begin_trace_capture(device)
            for _ in range(calls):
                ttnn.neg(x)
            ttnn.end_trace_capture(device, trace)
            return trace

        first = captured(3)  # a page of 4096 bytes for each program
        with self.assertRaisesRegex(RuntimeError, "buffers of size 24576B on the device, but only "
                                    "20480B is allocated .*trace_region_size=24576"):
            captured(3)
        ttnn.release_trace(device, first)
        ttnn.release_trace(device, captured(5))


class CaptureTest(unittest.TestCase):
    """What ttnn does with calls and memory beside traces."""

    def setUp(self):
        self.device = ttnn.open_device(device_id=1, trace_region_size=1 << 20)
        self.addCleanup(ttnn.close_device, self.device)
        self.x = ttnn.ones([32, 32], layout=TILE, device=self.device)

    def test_the_first_call_of_a_program_cannot_be_captured(self):
        ttnn.begin_trace_capture(self.device, cq_id=0)
        with self.assertRaisesRegex(RuntimeError, "Writes are not supported during trace capture"):
            ttnn.add(self.x, self.x)

    def test_a_known_program_can_be_captured(self):
        ttnn.add(self.x, self.x)
        trace = ttnn.begin_trace_capture(self.device, cq_id=0)
        made = ttnn.add(self.x, self.x)
        with self.assertRaisesRegex(RuntimeError, "Writes are not supported"):
            ttnn.multiply(self.x, self.x)
        ttnn.end_trace_capture(self.device, trace, cq_id=0)
        ttnn.execute_trace(self.device, trace, cq_id=0)
        self.assertEqual(made.to_list()[0][0], 2)

    def test_a_trace_reads_and_writes_addresses_whatever_tensor_is_there(self):
        ttnn.neg(self.x)
        trace = ttnn.begin_trace_capture(self.device, cq_id=0)
        middle = ttnn.neg(self.x)
        freed = middle.buffer_address()
        made = ttnn.neg(middle)
        ttnn.deallocate(middle)
        spec, address = self.x.spec, self.x.buffer_address()
        ttnn.deallocate(self.x)
        inputs = [ttnn.allocate_tensor_on_device(spec, self.device) for _ in range(2)]
        ttnn.end_trace_capture(self.device, trace, cq_id=0)
        inputs.sort(key=lambda one: one.buffer_address())
        self.assertEqual([one.buffer_address() for one in inputs], [address, freed])
        new = ttnn.full([32, 32], 5.0, dtype=ttnn.bfloat16, layout=TILE)
        for one in inputs:
            ttnn.copy_host_to_device_tensor(new, one)
        ttnn.execute_trace(self.device, trace, cq_id=0)
        self.assertEqual(made.to_list()[0][0], 5)
        self.assertEqual(inputs[1].to_list()[0][0], -5, "the trace has written there")
        ttnn.deallocate(inputs[0])
        larger = ttnn.full([64, 32], 9.0, dtype=ttnn.bfloat16, layout=TILE, device=self.device)
        ttnn.execute_trace(self.device, trace, cq_id=0)
        self.assertEqual((made.to_list()[0][0], larger.to_list()[0][0]), (5, 9))

    def test_a_trace_writes_a_cache_as_it_is_then(self):
        cache = ttnn.zeros([1, 1, 32, 32], layout=TILE, device=self.device)
        x = ttnn.ones([1, 1, 1, 32], layout=TILE, device=self.device)
        ttnn.update_cache(cache, x, 0)
        trace = ttnn.begin_trace_capture(self.device, cq_id=0)
        ttnn.update_cache(cache, x, 0)
        ttnn.end_trace_capture(self.device, trace, cq_id=0)
        ttnn.fill_cache(cache, ttnn.full([1, 1, 32, 32], 7.0, layout=TILE, device=self.device), 0)
        ttnn.copy_host_to_device_tensor(
            ttnn.full([1, 1, 1, 32], 5.0, dtype=ttnn.bfloat16, layout=TILE), x)
        ttnn.execute_trace(self.device, trace, cq_id=0)
        self.assertEqual([row[0] for row in cache.to_list()[0][0][:3]], [5, 7, 7])

    def test_a_trace_keeps_no_tensor_alive(self):
        """What is freed within a capture is free, as on a card: otherwise L1 is soon full."""
        x = ttnn.ones([1, 2, 32, 32], layout=TILE, device=self.device)
        row = ttnn.ones([1, 32], layout=TILE, device=self.device)
        attend = ttnn.transformer.scaled_dot_product_attention

        def ends():
            """Yields tensors that nothing has any more once the next one is asked for."""
            yield ttnn.add(x, x)
            yield ttnn.multiply(x, 2.0, activations=[ttnn.UnaryOpType.RELU])
            yield ttnn.typecast(x, ttnn.bfloat8_b)
            yield ttnn.linear(x, ttnn.add(x, x), bias=row)
            yield ttnn.softmax(ttnn.add(x, x))
            yield ttnn.layer_norm(ttnn.add(x, x), weight=row, bias=row)
            yield attend(x, x, ttnn.add(x, x), attn_mask=ttnn.zeros_like(x), is_causal=False)
            yield ttnn.transformer.concatenate_heads(ttnn.add(x, x))

        for _made in ends():
            pass
        known = set(self.device.storages)
        trace = ttnn.begin_trace_capture(self.device, cq_id=0)
        for made in ends():
            pass
        del made
        ttnn.end_trace_capture(self.device, trace, cq_id=0)
        alive = [number for number, of in self.device.storages.items() if of() and of().alive]
        self.assertEqual(set(alive) - known, set())

    def test_memory_beside_a_trace_is_warned_of_once_in_a_thread(self):
        said = []

        def script():
            ttnn.add(self.x, self.x)
            trace = ttnn.begin_trace_capture(self.device, cq_id=0)
            ttnn.add(self.x, self.x)
            ttnn.end_trace_capture(self.device, trace, cq_id=0)
            said.append(len(warned))
            ttnn.add(self.x, self.x)
            ttnn.add(self.x, self.x)
            ttnn.release_trace(self.device, trace)

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            thread = threading.Thread(target=script)
            thread.start()
            thread.join()
        self.assertEqual((said, len(warned)), ([0], 1))
        self.assertIn("unsafe due to the existence of an active trace", str(warned[0].message))


if __name__ == "__main__":
    unittest.main()
