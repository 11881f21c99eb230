# SPDX-License-Identifier: Apache-2.0
"""Feeds check_python.py small packages, right ones and broken ones."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_python.py")
TABLE = "howard.low\nhoward.high howard.beside  # one layer\nhoward.part.top\nhoward.part\nhoward\n"


class CheckTest(unittest.TestCase):
    def check(self, **texts):
        """Returns what the check says of a package whose other modules are empty."""
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "python" / "howard"
            (package / "part").mkdir(parents=True)
            for name in ("low", "high", "beside", "part/top", "part/__init__", "__init__"):
                text = texts.get(name.replace("/", "_"), "")
                (package / f"{name}.py").write_text(text)
            table = pathlib.Path(folder) / "table.txt"
            table.write_text(texts.get("table", TABLE))
            return subprocess.run([sys.executable, CHECK, folder, table], text=True,
                                  capture_output=True).stderr

    def test_imports_that_point_downward_pass(self):
        self.assertEqual(self.check(high="from . import low\n", part_top="from ..high import name\n",
                                    __init__="import howard.part.top\nimport sys\n"), "")

    def test_imports_that_point_up_or_sideways_are_named(self):
        for texts, place in (({"low": "\nfrom . import high\n"}, "low.py:2: howard.low must not import "
                              "howard.high"),
                             ({"beside": "from .high import name\n"}, "beside.py:1:"),
                             ({"high": "import howard.part.top as top\n"}, "high.py:1:"),
                             ({"part_top": "from . import name\n"}, "part/top.py:1:"),
                             ({"low": "def f():\n    from .part import top  # Why.\n"}, "low.py:2:")):
            self.assertIn(place, self.check(**texts))

    def test_an_import_in_a_function_needs_its_reason(self):
        self.assertIn("low.py:2: an import inside", self.check(low="def f():\n    import json\n"))
        self.assertEqual(self.check(low="def f():\n    import json  # It is slow.\n"), "")
        self.assertEqual(self.check(low="if True:\n    import json\n"), "")

    def test_files_have_500_lines_at_most(self):
        self.assertEqual(self.check(low="x = 1\n" * 500), "")
        self.assertIn("low.py:501: 501 lines", self.check(low="x = 1\n" * 501))

    def test_table_and_modules_agree(self):
        self.assertIn("low.py:1: howard.low has no row", self.check(table=TABLE[11:]))
        self.assertIn("there is no module howard.gone", self.check(table=TABLE + "howard.gone\n"))


if __name__ == "__main__":
    unittest.main()
