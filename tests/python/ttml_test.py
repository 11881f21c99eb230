# SPDX-License-Identifier: Apache-2.0
"""TTML's Python names over the autograd engine: the guide's examples, and gradients."""

import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    import numpy

    import howard.ttml as ttml
except ImportError:
    numpy = None

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ttml"


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Ttml(unittest.TestCase):
    def setUp(self):
        os.environ["HOWARD_DEVICE"] = "host"
        self.context = ttml.autograd.AutoContext.get_instance()
        self.context.open_device()
        self.context.set_seed(1)

    def tearDown(self):
        self.context.close_device()
        self.context.set_gradient_mode(ttml.autograd.GradMode.ENABLED)

    def tensor(self, *shape, seed=0):
        values = numpy.random.default_rng(seed).uniform(-1, 1, shape)
        return ttml.autograd.Tensor.from_numpy(values)

    def expect_gradient(self, predict, target, parameter, step=0.1):
        """The loss, in float64 of the predictions, changes along the gradient as that says."""
        values = parameter.to_numpy().copy()
        parameter._variable.set_gradient(None)
        ttml.ops.loss.mse_loss(predict(), target).backward(False)
        gradient = parameter.get_grad().to_numpy().astype(numpy.float64)
        way = step * gradient / numpy.abs(gradient).max()
        found = []
        for moved in (values + way, values - way):
            parameter.set_value(ttml.autograd.Tensor.from_numpy(moved))
            difference = predict().to_numpy().astype(numpy.float64) - target.to_numpy()
            found.append(numpy.mean(difference**2))
            self.context.reset_graph()
        parameter.set_value(ttml.autograd.Tensor.from_numpy(values))
        expected = 2 * numpy.sum(gradient * way)
        self.assertAlmostEqual(found[0] - found[1], expected, delta=0.05 * expected)

    def test_tensors_go_there_and_back(self):
        x = ttml.autograd.Tensor.from_numpy(numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
        self.assertEqual(x.shape(), [1, 1, 2, 3])
        self.assertEqual(x.to_numpy().tolist(), [[[[0, 1, 2], [3, 4, 5]]]])
        tokens = ttml.autograd.Tensor.from_numpy(
            numpy.array([[1, 70000]]), layout=ttml.Layout.ROW_MAJOR,
            new_type=ttml.DataType.UINT32)
        self.assertEqual(tokens.to_numpy().tolist(), [[[[1, 70000]]]])
        self.assertEqual(ttml.argmax(x.get_value(), dim=-1).to_numpy().tolist(), [[[2, 2]]])

    def test_gradients_are_slopes_of_the_loss(self):
        layer = ttml.modules.LinearLayer(32, 32)
        x, target = self.tensor(2, 1, 32, 32), self.tensor(2, 1, 32, 32, seed=1)
        for parameter in layer.parameters().values():
            self.expect_gradient(lambda: ttml.ops.unary.gelu(layer(x)), target, parameter)

    def test_gradients_flow_through_attention_and_positions(self):
        attention = ttml.modules.MultiHeadAttention(64, 2)
        norm = ttml.modules.LayerNormLayer(64)
        positions = ttml.modules.Parameter(self.tensor(1, 1, 32, 64, seed=4))
        mask = ttml.autograd.Tensor.from_numpy(ttml.common.data.build_causal_mask(32))
        x, target = self.tensor(2, 1, 32, 64), self.tensor(2, 1, 32, 64, seed=1)

        def predict():
            return attention(norm(ttml.ops.binary.add(x, positions.tensor)), mask)

        for parameter in (positions.tensor, norm.gamma.tensor, attention.qkv_linear.weight.tensor,
                          attention.out_linear.bias.tensor):
            self.expect_gradient(predict, target, parameter)

    def test_scaled_losses_accumulate(self):
        layer = ttml.modules.LinearLayer(32, 32)
        x, target = self.tensor(1, 1, 32, 32), self.tensor(1, 1, 32, 32, seed=1)
        weight = layer.weight.tensor
        ttml.ops.loss.mse_loss(layer(x), target).backward()
        whole = weight.get_grad().to_numpy()
        weight._variable.set_gradient(None)
        for _ in range(2):
            loss = ttml.ops.binary.mul(ttml.ops.loss.mse_loss(layer(x), target), 0.5)
            loss.backward()
        self.assertTrue(numpy.allclose(weight.get_grad().to_numpy(), whole, rtol=0.02, atol=1e-5))

    def test_a_sum_is_as_many_means(self):
        logits, targets = self.tensor(2, 1, 32, 64), numpy.arange(64).reshape(2, 32)
        tokens = ttml.autograd.Tensor.from_numpy(targets)
        kinds = ttml.ops.ReduceType
        loss = ttml.ops.loss.cross_entropy_loss
        mean = loss(logits, tokens, kinds.MEAN).get_value().item()
        self.assertAlmostEqual(loss(logits, tokens, kinds.SUM).get_value().item(), 64 * mean,
                               delta=0.01 * 64 * mean)
        logarithms = ttml.ops.unary.log_softmax(logits)
        nll = ttml.ops.loss.nll_loss(logarithms, tokens).get_value().item()
        self.assertAlmostEqual(nll, mean, delta=0.02 * mean)

    def test_parameters_have_names_and_modules_two_modes(self):
        model = ttml.models.nanogpt.create_nanogpt(ttml.models.nanogpt.NanoGPTConfig(
            vocab_size=64, block_size=32, n_embd=64, n_layer=2, n_head=2))
        names = list(model.parameters())
        self.assertEqual(names, sorted(names))
        self.assertIn("NanoGPT/blocks/1/attention/qkv_linear/weight", names)
        self.assertEqual(len(names), 2 + 2 * 12 + 2 + 1)
        model.eval()
        self.assertEqual(model.blocks[1].mlp.dropout.get_run_mode(), ttml.autograd.RunMode.EVAL)

    def test_schedules(self):
        layer = ttml.modules.LinearLayer(32, 32)
        optimizer = ttml.optimizers.SGD(layer.parameters(), ttml.optimizers.SGDConfig.make(lr=0.5))
        schedulers = ttml.schedulers

        def rates(scheduler, steps):
            optimizer.set_lr(0.5)
            made = scheduler(optimizer)
            found = []
            for _ in range(steps):
                made.step()
                found.append(round(optimizer.get_lr(), 6))
            optimizer.set_lr(0.5)
            return found

        self.assertEqual(rates(lambda o: schedulers.StepScheduler(o, 2, 0.5), 4),
                         [0.5, 0.25, 0.25, 0.125])
        self.assertEqual(rates(lambda o: schedulers.LinearScheduler(o, 0, 1, 2), 3),
                         [0.25, 0.5, 0.5])
        self.assertEqual(rates(lambda o: schedulers.CosineAnnealingScheduler(o, 2), 2), [0.25, 0])

    def test_what_cannot_be_done_is_said(self):
        layer = ttml.modules.LinearLayer(32, 32)
        x = self.tensor(1, 1, 32, 32)
        loss = ttml.ops.loss.mse_loss(layer(x), x)
        for attempt, words in [
            (lambda: loss.backward(True), "retain_graph"),
            (lambda: ttml.ops.binary.add(loss, loss), "a loss"),
            (lambda: x.backward(), "graph that is gone"),
            (lambda: ttml.optimizers.SGD({"x": x}, ttml.optimizers.SGDConfig()), "no parameter"),
            (lambda: layer.weight.tensor.get_grad(), "no gradient"),
            (lambda: ttml.autograd.Tensor.from_numpy(numpy.zeros((1, 1, 1, 1, 1))), "dimensions"),
            (lambda: self.context.open_device(), "after"),
            (lambda: ttml.modules.Embedding(65, 32), "multiples"),
            (lambda: ttml.ops.binary.add(x, self.tensor(1, 1, 64, 32)), "equal shapes"),
            (lambda: ttml.ops.binary.mul(x, self.tensor(2, 1, 32, 32)), "equal shapes"),
            (lambda: ttml.ops.matmul.matmul_op(x, self.tensor(2, 1, 32, 32)), "matrices"),
            (lambda: ttml.ops.layernorm.layernorm(x, x), "gamma"),
            (lambda: ttml.ops.multi_head_utils.heads_creation(x, 5), "5 heads"),
        ]:
            with self.assertRaisesRegex(RuntimeError, words):
                attempt()
        loss.backward()
        with self.assertRaisesRegex(RuntimeError, "graph that is gone"):
            loss.backward()

    def test_the_guides_examples_run(self):
        for script, expected in [("linear_regression.py", "Prediction for [1, 1]: 0.99"),
                                 ("mnist_mlp.py", "Epoch 3/3"), ("nano_gpt.py", "Generated text")]:
            with tempfile.TemporaryDirectory() as folder:
                found = subprocess.run(
                    [os.environ["HOWARD_RUN_EXPERIMENT"], "python", "--results", folder,
                     str(EXAMPLES / script)],
                    capture_output=True, text=True, check=False, cwd=EXAMPLES.parents[1],
                    env={k: v for k, v in os.environ.items() if k != "HOWARD_DEVICE"})
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertIn(expected, found.stdout)
            self.assertIn("virtual time", found.stderr)


if __name__ == "__main__":
    unittest.main()
