# SPDX-License-Identifier: Apache-2.0
"""Feeds check_arguments.py small packages, right ones and broken ones."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

BESIDE = ("_devices.py", "_graph.py", "_memory.py", "_mesh.py", "_methods.py", "_tensor.py", "database.py",
          "model_preprocessing.py")
CHECK = pathlib.Path(__file__).with_name("check_arguments.py")
REASONS = 'EVERYWHERE = {"queue": "It is read before the call."}\n' \
          'PLAIN = {"drawn.color": "Nothing is drawn: a text says it."}\n' \
          'UNREAD = {"stable": "The order is always stable here."}\n'


class CheckTest(unittest.TestCase):
    def check(self, text, reasons=REASONS):
        """Returns what the check says of a module of operations, whose first line is left out."""
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "python" / "howard" / "ttnn"
            (package / "_operations").mkdir(parents=True)
            for name in BESIDE:
                (package / name).write_text("")
            (package / "_mesh.py").write_text("def drawn(color):\n    return 1\n")
            (package / "_arguments.py").write_text(reasons)
            listed = '@operation(unread="stable")\ndef listed():\n    return 1\n'
            (package / "_operations" / "one.py").write_text(text + listed)
            return subprocess.run([sys.executable, CHECK, folder], text=True,
                                  capture_output=True).stderr

    def test_arguments_that_are_read_pass(self):
        self.assertEqual(self.check("def f(a, *b, c=1, **d):\n    return a, b, c, d\n"), "")
        self.assertEqual(self.check("def helper(_x, y):\n    return y\n"), "")
        self.assertEqual(self.check("def f(self, a):\n    '''Does nothing.'''\n"), "")
        self.assertEqual(self.check("def f(a):\n    def g():\n        return a\n    return g\n"), "")

    def test_arguments_that_nothing_reads_are_named(self):
        for text, name in (("def f(a, b):\n    return a\n", "b"), ("def f(*, c=1):\n    return 2\n", "c"),
                           ("def f(a):\n    a = 1\n    return 2\n", "a"),
                           ("def f(**_):\n    return 1\n", "_"), ("def f(*_):\n    return 1\n", "_"),
                           ("@operation()\ndef f(_a):\n    return 1\n", "_a")):
            self.assertIn(f"f() never reads its parameter {name}\n", self.check(text), text)

    def test_what_is_listed_has_a_reason(self):
        for words in ('"absent"', '{"absent": 3}', "_WORDS"):
            text = f'_WORDS = "absent queue"\n@operation(unread={words})\ndef f():\n    return 1\n'
            self.assertIn("absent has no reason", self.check(text), words)
        self.assertEqual(self.check('f = operation("f", unread="queue", refuses={"g": 1})(len)\n'), "")
        self.assertIn("no sentence", self.check("", REASONS.replace("The order is always stable here.",
                                                                    "Time.")))
        self.assertIn("no function lists drawn.gone", self.check("", REASONS.replace(
            'PLAIN = {', 'PLAIN = {"drawn.gone": "It has gone from all functions.", ')))
        self.assertIn("no function lists gone", self.check("", REASONS.replace(
            'UNREAD = {', 'UNREAD = {"gone": "It has gone from all functions.", ')))


if __name__ == "__main__":
    unittest.main()
