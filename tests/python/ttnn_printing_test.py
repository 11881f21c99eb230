# SPDX-License-Identifier: Apache-2.0
"""How tensors are printed, against what ttnn prints."""

import math
import unittest

import numpy

import howard.ttnn as ttnn
from ttnn_values_case import ROWS, ValuesCase, put


class PrintingTest(ValuesCase):
    def tearDown(self):
        ttnn.set_printoptions()

    def text(self, values, *types):
        return repr(put(values, *types)).split(", shape=")[0]

    def test_numbers_have_ttnns_widths(self):
        self.assertEqual(repr(put([[1, -2.5, 0.25], [0, 4, 8]], layout=ROWS)),
                         "ttnn.Tensor([[ 1.0000, -2.5000,  0.2500],\n"
                         "             [ 0.0000,  4.0000,  8.0000]], shape=Shape([2, 3]), "
                         "dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)")
        self.assertEqual(self.text(range(1, 7), ttnn.int32),
                         "ttnn.Tensor([    1,     2,  ...,     5,     6]")
        self.assertEqual(self.text([4294967295], ttnn.uint32, ROWS), "ttnn.Tensor([4294967295]")
        self.assertEqual(repr(put(1.0, ttnn.bfloat16)),
                         "ttnn.Tensor( 1.0000, shape=Shape([]), dtype=DataType::BFLOAT16, "
                         "layout=Layout::TILE)")
        self.assertEqual(self.text(numpy.zeros((2, 0))), "ttnn.Tensor([[],\n             []]")

    def test_numbers_that_are_far_apart_have_powers_of_ten(self):
        self.assertEqual(self.text([[[1.0, 2e-5]], [[3, 4]]]),
                         "ttnn.Tensor([[[ 1.0000e+00,  2.0000e-05]],\n\n"
                         "             [[ 3.0000e+00,  4.0000e+00]]]")
        self.assertEqual(self.text([1.0, 1000, 0, math.inf, math.nan][:2]),
                         "ttnn.Tensor([ 1.0000, 1000.0000]")
        ttnn.set_printoptions(sci_mode=True, precision=1)
        self.assertEqual(self.text([1.0]), "ttnn.Tensor([ 1.0e+00]")
        self.assertEqual(self.text([1], ttnn.int32), "ttnn.Tensor([    1]")

    def test_profiles(self):
        rows = numpy.arange(10).reshape(5, 2)
        self.assertEqual(self.text(rows), "ttnn.Tensor([[ 0.0000,  1.0000],\n"
                         "             [ 2.0000,  3.0000],\n             ...,\n"
                         "             [ 6.0000,  7.0000],\n             [ 8.0000,  9.0000]]")
        ttnn.set_printoptions(profile="full")
        self.assertNotIn("...", self.text(rows))
        ttnn.set_printoptions(profile="EMPTY")
        self.assertEqual(self.text(rows), "ttnn.Tensor(...")
        freed = put([1.0])
        ttnn.deallocate(freed)
        self.assertIn("<buffer is not allocated>", repr(freed))
        self.refused("there is no profile", ttnn.set_printoptions, profile="long")
        for wrong in ({"sci_mode": "yes"}, {"precision": -1}):
            with self.assertRaises(ValueError):
                ttnn.set_printoptions(**wrong)


if __name__ == "__main__":
    unittest.main()
