# SPDX-License-Identifier: Apache-2.0
"""Gives tests of TTML's names what they have in common: an open device, and tensors on it."""

import unittest

try:
    import numpy

    import howard
    from howard import _ttml_imports, ttnn

    _ttml_imports.install()
    import ttml
except ImportError:
    numpy = howard = ttml = ttnn = None


@unittest.skipIf(numpy is None, "NumPy is not installed")
class TtmlCase(unittest.TestCase):
    def setUp(self):
        self.context = ttml.autograd.AutoContext.get_instance()
        self.context.open_device()
        self.context.set_seed(1)

    def tearDown(self):
        self.context.close_device()
        self.context.set_gradient_mode(ttml.autograd.GradMode.ENABLED)

    def tensor(self, *shape, seed=0):
        values = numpy.random.default_rng(seed).uniform(-1, 1, shape)
        return self.made(values)

    @staticmethod
    def made(array):
        return ttml.autograd.Tensor.from_numpy(numpy.asarray(array, numpy.float32))

    @staticmethod
    def whole(array):
        return ttml.autograd.Tensor.from_numpy(numpy.asarray(array, numpy.uint32),
                                               layout=ttml.Layout.ROW_MAJOR)

    def expect_gradient(self, predict, target, parameter, step=0.1):
        """The loss, in float64 of the predictions, changes along the gradient as that says."""
        values = parameter.to_numpy().copy()
        parameter.clear_grad()
        ttml.ops.loss.mse_loss(predict(), target).backward(False)
        gradient = parameter.get_grad_tensor().to_numpy().astype(numpy.float64)
        way = step * gradient / numpy.abs(gradient).max()
        found = []
        for moved in (values + way, values - way):
            parameter.set_value(self.made(moved))
            difference = predict().to_numpy().astype(numpy.float64) - target.to_numpy()
            found.append(numpy.mean(difference**2))
            self.context.reset_graph()
        parameter.set_value(self.made(values))
        expected = 2 * numpy.sum(gradient * way)
        self.assertAlmostEqual(found[0] - found[1], expected, delta=0.05 * expected)

    def tokens(self, batch, sequence, below=96, seed=3):
        drawn = numpy.random.default_rng(seed).integers(0, below, (batch, 1, 1, sequence))
        return self.whole(drawn)

    def llama(self, **changes):
        config = {**dict(model_type="llama", num_heads=4, num_groups=2, embedding_dim=128,
                         num_blocks=2, max_sequence_length=64, vocab_size=90), **changes}
        factory = ttml.common.model_factory.TransformerModelFactory({"transformer_config": config})
        return factory.create_model()
