# SPDX-License-Identifier: Apache-2.0
"""What TTML's names do not take is an error of Python that says so, at the script's own line."""

import os
import pathlib
import subprocess
import tempfile

from ttml_case import TtmlCase, numpy, ttml, ttnn, unittest

PROGRAM = os.environ.get("HOWARD_RUN_EXPERIMENT", "")
HEAD = """import numpy, os, signal, ttml, ttnn
ctx = ttml.autograd.AutoContext.get_instance()
ctx.open_device()
x = ttml.autograd.Tensor.from_numpy(numpy.ones((1, 1, 32, 32), numpy.float32))
x.set_requires_grad(True)
"""


class Arguments(TtmlCase):
    def refused(self, kind, words, function, *args):
        with self.assertRaisesRegex(kind, words):
            function(*args)

    def test_an_argument_of_another_kind_is_named(self):
        x, add, mul = self.tensor(1, 1, 32, 32), ttml.ops.binary.add, ttml.ops.binary.mul
        self.refused(TypeError, r"ttml.add\(\): incompatible .*'NoneType'.*it takes \(a, b\)", add, x, None)
        self.refused(TypeError, r"ttml.mul\(\): incompatible .*ndarray", mul, x, numpy.ones(3))
        self.refused(TypeError, r"ttml.relu\(\): incompatible .*ndarray", ttml.ops.unary.relu, numpy.ones(3))
        doubled = mul(x, numpy.float32(2)).to_numpy()
        self.assertTrue(numpy.array_equal(doubled, 2 * x.half().to_numpy()))

    def test_a_type_a_layout_and_a_value_are_those_of_tensors(self):
        x, put = self.tensor(1, 1, 32, 32), ttml.autograd.Tensor.from_numpy
        ones = numpy.ones((1, 1, 32, 32), numpy.float32)
        self.refused(TypeError, "Unsupported type: bf16", put, ones, ttml.Layout.TILE, "bf16")
        self.refused(TypeError, "a layout of 'tile'; accepted: ttnn.Layout.TILE", put, ones, "tile")
        self.refused(TypeError, "Unsupported type: bf16", x.to_numpy, "bf16")
        self.refused(TypeError, "create_tensor: a list", ttml.autograd.create_tensor, [1])
        for word in ("set_value", "set_grad", "assign"):
            self.refused(TypeError, f"{word}: a float; accepted: a tensor", getattr(x, word), 1.0)
        self.refused(TypeError, "assign: a NoneType", x.assign, None)
        x.assign(self.tensor(1, 1, 32, 32, seed=1).half())

    def test_a_function_gives_tensors(self):
        class Nothing(ttml.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return None

        self.refused(TypeError, "forward of Nothing: a NoneType", Nothing.apply, self.tensor(1, 1, 32, 32))

    def test_a_state_of_another_optimizer_is_refused(self):
        from ttml.optimizers import AdamW, AdamWConfig, SGD, SGDConfig
        wide, narrow = ({"w": self.tensor(1, 1, 32, columns)} for columns in (64, 32))
        for tensor in (wide["w"], narrow["w"]):
            tensor.set_requires_grad(True)
        mine, other = AdamW(wide, AdamWConfig()), AdamW(narrow, AdamWConfig())
        self.refused(RuntimeError, "exp_avg of w", mine.set_state_dict, other.get_state_dict())
        sgd = SGD(wide, SGDConfig()).get_state_dict()
        self.refused(RuntimeError, "a state without exp_avg, exp_avg_sq", mine.set_state_dict, sgd)
        self.refused(RuntimeError, "a state without steps", mine.set_state_dict, None)
        mine.set_state_dict(AdamW(wide, AdamWConfig()).get_state_dict())
        self.refused(RuntimeError, "no gradient", ttml.core.clip_grad_norm, wide, 1.0)

    def test_a_schedule_has_an_optimizer_and_a_function(self):
        from ttml.optimizers import SGD, SGDConfig
        from ttml.schedulers import LambdaScheduler, SequentialScheduler, StepScheduler
        sgd = SGD({}, SGDConfig())
        self.refused(TypeError, "StepScheduler: a NoneType; accepted: an optimizer", StepScheduler, None, 2)
        self.refused(TypeError, "lr_lambda: a NoneType", LambdaScheduler, sgd, None)
        self.refused(ValueError, "0 schedulers", SequentialScheduler, sgd, None, None)

    def test_a_graph_that_was_reset_is_gone(self):
        x = self.tensor(1, 1, 32, 32)
        x.set_requires_grad(True)
        old, seen = ttml.ops.unary.relu(ttml.ops.unary.relu(x)), []
        self.context.reset_graph()
        self.refused(RuntimeError, "reset_graph", old.backward, False)
        # Its nodes are none of those that come after it, though they have the same numbers.
        joined = ttml.ops.unary.relu(old)
        ttml.autograd.callback(x, lambda: seen.append(1)).set_grad(ttnn.ones_like(x.half()))
        joined.backward(False)
        self.assertEqual(seen, [])


@unittest.skipIf(numpy is None or not PROGRAM, "NumPy or the program is not there")
class Lines(unittest.TestCase):
    def run_text(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "script.py"
        path.write_text(HEAD + text)
        return subprocess.run([PROGRAM, "python", "--no-what-if", path], cwd=folder.name, text=True,
                              capture_output=True, timeout=120, check=False)

    def frames(self, text, last):
        """Checks that the error's last line is so, and that all frames are the script's."""
        made = self.run_text(text)
        self.assertEqual(made.returncode, 1, made.stderr)
        self.assertRegex(made.stderr, last)
        files = [line for line in made.stderr.splitlines() if line.startswith('  File "')]
        self.assertTrue(files and all("script.py" in line for line in files), made.stderr)

    def test_a_refusal_has_the_line_of_the_script(self):
        self.frames("ttml.ops.linear.linear(x, None)\n", r"TypeError: ttml.linear\(\): incompatible")
        self.frames("ttnn.linear(x.half(), None)\n", r"TypeError: ttnn.linear")

    def test_an_error_within_a_backward_pass_has_both_lines(self):
        self.frames("def fail():\n    {}['key']\nttml.ops.unary.mean(ttml.autograd.callback(x, fail))"
                    ".backward(False)\n", "KeyError: 'key'")
        self.frames("class Mine(ttml.autograd.Function):\n"
                    "    forward = staticmethod(lambda ctx, x: ttnn.relu(x.get_value()))\n"
                    "    @staticmethod\n    def backward(ctx, g):\n        raise ValueError('mine')\n"
                    "Mine.apply(x).backward(False)\n", "RuntimeError: Error in backward of Mine: mine")

    def test_a_script_goes_on_after_a_ctrl_c_that_it_has_caught(self):
        made = self.run_text("try:\n    os.kill(os.getpid(), signal.SIGINT)\n    ttnn.relu(x.half())\n"
                             "except KeyboardInterrupt:\n    print('caught')\n"
                             "ttml.ops.unary.relu(x)\nprint('on')\n")
        self.assertEqual(made.stdout.split()[:2], ["caught", "on"], made.stderr)
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_a_ctrl_c_that_python_drops_comes_with_the_next_op(self):
        made = self.run_text("class Last:\n    def __del__(self):\n        os.kill(os.getpid(), "
                             "signal.SIGINT)\n        [0 for _ in range(9)]\nLast()\nprint('on')\n"
                             "ttml.ops.unary.relu(x)\nprint('never')\n")
        self.assertEqual(made.returncode, 130, made.stderr)
        self.assertEqual(made.stdout.split()[:1], ["on"], made.stderr)
        self.assertNotIn("never", made.stdout)


if __name__ == "__main__":
    unittest.main()
