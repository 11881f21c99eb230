# SPDX-License-Identifier: Apache-2.0
"""Gives tests of values what they have in common: an open device, and tensors on it."""

import unittest

import numpy

import howard.ttnn as ttnn

TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
device = ttnn.open_device(device_id=0)


def put(values, dtype=ttnn.float32, layout=TILE, **options):
    return ttnn.from_torch(numpy.asarray(values), dtype=dtype, layout=layout, device=device, **options)


def ints(*values, layout=ROWS, dtype=ttnn.int32):
    return put(numpy.array(values, numpy.int32), dtype, layout)


def get(tensor):
    return tensor.to_numpy()


def sharded(shape, strategy, x=1, y=1, **options):
    return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(x=x, y=y), strategy, **options)


class ValuesCase(unittest.TestCase):
    def near(self, found, expected, tolerance=1e-5):
        found = get(found) if isinstance(found, ttnn.Tensor) else numpy.asarray(found)
        expected = numpy.asarray(expected, float)
        self.assertEqual(found.shape, expected.shape)
        self.assertTrue(numpy.allclose(found, expected, tolerance, tolerance, equal_nan=True),
                        f"{found.ravel()[:8]} is not {expected.ravel()[:8]}")

    def refused(self, text, call, *args, **kwargs):
        with self.assertRaisesRegex(RuntimeError, text):
            call(*args, **kwargs)
