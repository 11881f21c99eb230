# SPDX-License-Identifier: Apache-2.0
"""What computes the values of the stand-in for ttnn: formulas, rounding, indices, products."""

import math
import subprocess
import sys
import unittest

import numpy

from howard import _native
from howard.ttnn import _arrays as arrays
from howard.ttnn._types import broadcast_shape


def real(*values):
    return numpy.array(values, numpy.float32)


def whole(*values):
    return numpy.array(values, numpy.int32)


class FunctionsTest(unittest.TestCase):
    def value(self, name, *operands, numbers=()):
        return float(arrays.apply(name, *map(real, operands), numbers=numbers)[0])

    def test_formulas_are_the_catalogues(self):
        for name, (values, *_) in _native._ttnn.elementwise_values().items():
            if values == 0:
                continue
            with self.subTest(name):
                made = arrays.apply(name, *[real(0.5, 0.75)] * values, numbers=[0.5, 0.5])
                self.assertEqual((made.shape, made.dtype), ((2,), numpy.float32))
        self.assertAlmostEqual(self.value("mish", 1), 0.8650983882673103, 6)
        self.assertAlmostEqual(self.value("polygamma", 1, numbers=[1]), math.pi**2 / 6, 6)

    def test_nan_goes_through_functions_that_choose(self):
        nan = math.nan
        for name, numbers in (("clamp", (-1, 1)), ("hardtanh", (-1, 1)), ("hardshrink", (0.5,)),
                              ("threshold", (0, 1)), ("relu", ()), ("relu_max", (1,))):
            self.assertTrue(math.isnan(self.value(name, nan, numbers=numbers)), name)
        self.assertTrue(math.isnan(self.value("xlogy", 0, nan)))
        self.assertTrue(math.isnan(self.value("maximum", 1, nan)))
        self.assertEqual(self.value("relu_max", 1, numbers=[-1]), 0)

    def test_fast_loops_of_numpy_agree_with_the_catalogue(self):
        x, y = numpy.random.default_rng(1).normal(size=(2, 1000)).astype(numpy.float32)
        for name in arrays._FAST:
            operands = [x, y] if _native._ttnn.elementwise_values()[name][0] == 2 else [abs(x)]
            made = numpy.empty(1000)
            _native._ttnn.elementwise(name, made, [one.astype(float) for one in operands], [])
            self.assertTrue((arrays.apply(name, *operands) == made.astype(numpy.float32)).all(), name)

    def test_many_numbers_and_few_are_what_the_catalogue_says(self):
        x = numpy.random.default_rng(2).normal(size=(7, 5000)).astype(numpy.float32)
        x[0, :4] = 0, -0.0, math.inf, math.nan
        for many in (x, arrays.rounded(x, "bfloat16")):
            for name in ("gelu", "exp", "log", "tanh", "sin", "cos", "leaky_relu"):
                made = numpy.empty(x.shape)
                _native._ttnn.elementwise(name, made, [many.astype(float)], [0.25])
                found = arrays.apply(name, many, numbers=[0.25])
                self.assertTrue(numpy.allclose(found, made, 1e-6, 1e-7, True), name)
                few = arrays.apply(name, many[:, :9], numbers=[0.25])
                self.assertTrue(numpy.allclose(few, made[:, :9], 1e-6, 1e-7, True), name)
        slopes = [arrays.apply("leaky_relu", many, numbers=[n])[many < 0] for n in (0.25, 0.5)]
        self.assertTrue((2 * slopes[0] == slopes[1]).all())

    def test_operands_are_broadcast(self):
        made = arrays.apply("hypot", real(3, 6).reshape(2, 1), real(4, 8))
        self.assertEqual(made.shape, (2, 2))
        self.assertEqual(made[0, 0], 5)
        made = arrays.apply("hypot", real(3, 6).reshape(2, 1, 1, 1, 1), real(4, 8).reshape(2, 1))
        self.assertEqual((made.shape, made[0, 0, 0, 0, 0]), ((2, 1, 1, 2, 1), 5))
        self.assertEqual(arrays.apply("hardtanh", real(-9, 9), numbers=[-math.inf, 5]).tolist(), [-9, 5])
        self.assertEqual(arrays.apply("relu_max", real(-9, 9), numbers=real(5)).tolist(), [0, 5])
        self.assertEqual(broadcast_shape((4, 1, 3), (2, 1), ()), [4, 2, 3])
        with self.assertRaises(ValueError):
            broadcast_shape((2, 3), (4,))

    def test_whole_numbers_stay_whole_and_wrap(self):
        large = whole(2**31 - 1)
        self.assertEqual(arrays.apply("add", large, whole(1))[0], -2**31)
        self.assertEqual(arrays.apply("divide", whole(7), whole(2))[0], 3.5)
        self.assertEqual(arrays.apply("logical_right_shift", whole(-1), whole(28))[0], 15)
        self.assertEqual(list(arrays.to_whole(real(-1.7, math.nan, math.inf, 2**32 + 512))),
                         [-1, 0, 0, 512])
        self.assertEqual(list(arrays.rounded(real(300, -1), "uint8")), [44, 255])

    def test_what_does_not_fit_is_refused(self):
        for call in (("nonsense", numpy.empty(2), [numpy.empty(2)], []),
                     ("add", numpy.empty(2), [numpy.empty(2)], []),
                     ("exp", numpy.empty(2), [numpy.empty(3)], []),
                     ("exp", numpy.empty(2), [numpy.empty(2, numpy.float32)], []),
                     ("exp", numpy.empty(2), [numpy.empty(4)[::2]], []),
                     ("clamp", numpy.empty(2), [numpy.empty(2)], [1.0])):
            with self.assertRaises(_native.Error, msg=str(call)):
                _native._ttnn.elementwise(*call)


class PlacesTest(unittest.TestCase):
    table = real(*range(6)).reshape(2, 3)

    def test_numbers_are_gathered_and_scattered(self):
        index = whole(2, 0).reshape(2, 1)
        self.assertEqual(arrays.gathered(self.table, 1, index).tolist(), [[2], [3]])
        twice = whole(1, 1).reshape(1, 2)
        made = arrays.scattered(self.table, 1, twice, real(10, 20).reshape(1, 2), "add")
        self.assertEqual(made.tolist(), [[0, 31, 2], [3, 4, 5]])
        self.assertEqual(arrays.rows_of(self.table, whole(1, 0)).tolist(), [[3, 4, 5], [0, 1, 2]])

    def test_places_that_are_not_there_are_refused(self):
        for place in (-1, 3):
            with self.assertRaisesRegex(RuntimeError, "there are places 0 to 2"):
                arrays.gathered(self.table, 1, whole(place).reshape(1, 1))
        with self.assertRaisesRegex(RuntimeError, "does not fit"):
            arrays.gathered(self.table, 1, whole(0, 0, 0).reshape(3, 1))
        with self.assertRaises(RuntimeError):
            arrays.rows_of(self.table, whole(2))

    def test_sorting_is_stable_and_reductions_have_float64s(self):
        values, places = arrays.sort(real(1, 2, 1, 2), 0, True)
        self.assertEqual((values.tolist(), places.tolist()), ([2, 2, 1, 1], [1, 3, 0, 2]))
        self.assertEqual(arrays.reduce("sum", real(1e8, 1, -1e8), [0], False), 1)
        self.assertAlmostEqual(float(arrays.reduce("var", real(0, 1, 2, 3), [0], False)), 5 / 3, 6)
        self.assertAlmostEqual(float(arrays.reduce("std0", real(0, 1, 2, 3), [0], True)[0]),
                               math.sqrt(5 / 4), 6)

    def test_random_numbers_are_splitmix64s(self):
        # The first two numbers of the reference implementation for the seed 0.
        first = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
        expected = numpy.float32([(one >> 11) * 2.0**-53 for one in first])
        self.assertEqual(arrays.uniform([2], 0, 1, 0).tolist(), expected.tolist())

    def test_large_products_are_those_of_small_ones(self):
        a, b = numpy.random.default_rng(2).normal(size=(2, 3, 80, 80)).astype(numpy.float32)
        self.assertLess(abs(arrays.matmul(a, b) - numpy.matmul(a, b)).max(), 1e-4)
        self.assertLess(abs(arrays.matmul(a, b[:1]) - numpy.matmul(a, b[:1])).max(), 1e-4)


class EngineTest(unittest.TestCase):
    def test_rows_are_those_of_their_definitions(self):
        for shape in ((3, 7), (2, 3, 5, 40), (1, 3000)):
            x = numpy.random.default_rng(4).normal(size=shape).astype(numpy.float32)
            wide = x.astype(float)
            for dim in (-1, 0):
                powers = numpy.exp(wide)
                self.near(arrays.softmax(x, dim), powers / powers.sum(dim, keepdims=True))
            gap = wide - wide.mean(-1, keepdims=True)
            for rms, of in ((True, wide), (False, gap)):
                expected = of / numpy.sqrt((of * of).mean(-1, keepdims=True) + 0.5)
                self.near(arrays.normalized(x, 0.5, rms), expected)
        self.assertEqual(arrays.softmax(numpy.zeros((2, 0)), -1).shape, (2, 0))

    def test_an_array_may_be_larger_than_a_side_of_a_tensor(self):
        x = numpy.full((2, 2**23 + 1), 0.5, numpy.float32)
        self.assertEqual(arrays.apply("gelu", x)[1, -1], arrays.apply("gelu", x[:1, :1])[0, 0])
        self.assertEqual(float(arrays.reduce("sum", x, [0, 1], False)), 2**23 + 1)
        self.assertEqual(arrays.reduce("max", x, [1], True).tolist(), [[0.5], [0.5]])

    def test_results_take_the_place_of_operands_and_indices_are_whole(self):
        row = (1, 1, 1, 2), "float32", False
        made = arrays.computed("sgd", '{"learning_rate":0.5}', [[row] * 2, [row]], [0],
                               [real(1, 2), real(2, 4)])
        self.assertEqual(made[0].ravel().tolist(), [0, 0])
        places = (1, 1, 1, 3), "uint32", True
        table, found = (((1, 1, rows, 2), "float32", True) for rows in (4, 3))
        made = arrays.computed("embedding", "{}", [[places, table], [found]], [-1],
                               [whole(3, 0, 1), real(*range(8))])
        self.assertEqual(made[0].ravel().tolist(), [6, 7, 0, 1, 2, 3])
        with self.assertRaisesRegex(RuntimeError, "index 4 at position 1; accepted: 0 to 3"):
            arrays.computed("embedding", "{}", [[places, table], [found]], [-1],
                            [whole(3, 4, 1), real(*range(8))])

    def test_sums_of_any_dimensions_and_the_largest_numbers(self):
        x = numpy.random.default_rng(5).normal(size=(3, 4, 5, 6)).astype(numpy.float32)
        for dims in ((3,), (-2,), (1, 2), (2, 3), (0, 1, 2, 3)):
            for keep in (True, False):
                for kind, of in (("sum", "sum"), ("mean", "mean"), ("max", "max"), ("var0", "var")):
                    expected = getattr(x.astype(float), of)(dims, keepdims=keep)
                    self.near(arrays.reduce(kind, x, dims, keep), numpy.asarray(expected), 1e-5)
        self.assertEqual(arrays.reduce("sum", numpy.zeros((0, 3), numpy.float32), [1], True).shape, (0, 1))
        self.assertEqual(arrays.reduce("max", real(3)[0], [], False), 3)
        for dim in (1, -1):
            for largest in (True, False):
                found, places = arrays.topk(x, 2, dim, largest)
                order = numpy.argsort(-x if largest else x, dim, kind="stable").take([0, 1], dim)
                self.assertTrue((places == order).all())
                self.near(found, numpy.take_along_axis(x, order, dim))

    def near(self, found, expected, tolerance=2e-6):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(abs(found - expected).max(), tolerance)


class ImportTest(unittest.TestCase):
    def test_running_sums_of_any_dimension_from_either_end(self):
        numbers = numpy.random.default_rng(9)
        for shape in ((7,), (3, 5), (2, 3, 4, 5), (2, 3, 2, 2, 3)):
            x = numbers.random(shape, numpy.float32)
            for dim in range(len(shape)):
                made, back = (arrays.cumulative("cumsum", x, dim, backwards) for backwards in (False, True))
                self.assertEqual((made.dtype, back.dtype), (numpy.float32, numpy.float32))
                numpy.testing.assert_allclose(made, numpy.cumsum(x, dim, float), 1e-5)
                numpy.testing.assert_allclose(back, x + made.take([-1], dim) - made, 1e-4)
        made = arrays.cumulative("cumsum", whole(2147483647, 1), 0)
        self.assertEqual(made.tolist(), [2147483647, -2147483648])

    def test_only_what_nobody_else_has_is_rounded_in_place(self):
        for shared in (False, True):
            kept = numpy.full((4, 8), 1.001, numpy.float32)
            for one in (kept.reshape(32), kept[1:], kept.T, numpy.broadcast_to(kept, (2, 4, 8))):
                self.assertEqual(arrays.rounded(one, "bfloat16", not shared).max(), 1)
            self.assertEqual(kept.min(), numpy.float32(1.001))
        alone = numpy.full(64, 1.001, numpy.float32).reshape(8, 8)
        self.assertIs(arrays.rounded(alone, "bfloat16", True), alone)
        self.assertIsNot(arrays.rounded(alone, "float32"), alone)

    def test_turned_and_shifted_numbers(self):
        turned = numpy.arange(2.0 ** 16, dtype=numpy.float32).reshape(4, 128, 128).transpose(2, 0, 1)
        made = arrays.rounded(turned, "float32")
        self.assertTrue(made.flags.c_contiguous and (made == turned).all())
        a, count = whole(-1, -1, 5, 5), whole(1, 32, 31, -1)
        self.assertEqual(arrays.apply("bitwise_left_shift", a, count).tolist(), [-2, 0, -2**31, 0])
        self.assertEqual(arrays.apply("logical_right_shift", a, count).tolist(), [2**31 - 1, 0, 0, 0])

    def test_bits_of_whole_numbers(self):
        a, b = whole(-1, 12, -2147483648), whole(6, 10, 2147483647)
        for name, expected in (("bitwise_and", [6, 8, 0]), ("bitwise_or", [-1, 14, -1]),
                               ("bitwise_xor", [-7, 6, -1])):
            self.assertEqual(arrays.apply(name, a, b).tolist(), expected)
        self.assertEqual(arrays.apply("pow", whole(-3, 70000), 2).tolist(), [9, 605032704])

    def test_a_script_without_values_needs_no_numpy(self):
        text = ("import sys, howard.ttnn as ttnn\n"
                "from howard.ttnn._session import session\n"
                "session.values = False\n"
                "device = ttnn.open_device(device_id=0)\n"
                "x = ttnn.zeros([64, 64], layout=ttnn.TILE_LAYOUT, device=device)\n"
                "ttnn.softmax(ttnn.add(ttnn.matmul(x, x), x), -1)\n"
                "assert 'numpy' not in sys.modules\n")
        subprocess.run([sys.executable, "-c", text], check=True)


if __name__ == "__main__":
    unittest.main()
