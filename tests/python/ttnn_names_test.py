# SPDX-License-Identifier: Apache-2.0
"""docs/ttnn_names.md says which of ttnn's names the stand-in has; --write makes it anew."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "ttnn_names.md"


def read_names():
    bundles, notes, at = [], [], None
    for line in (HERE / "ttnn_names.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if line == "notes:":
            at = notes
        elif at is notes:
            notes.append(line)
        else:
            title, names = line.split(": ", 1)
            bundles.append((title, names.split()))
    return bundles, notes


def is_there(name):
    import howard.ttnn as module

    at = module
    for part in name.split("."):
        try:
            at = getattr(at, part)
        except AttributeError:
            return False
    return True


def document():
    bundles, notes = read_names()
    lines = [
        "# Names of ttnn",
        "",
        "Which of the names that scripts use the stand-in has, by bundles in the order of their "
        "frequency.",
        "This page is made by `tests/python/ttnn_names_test.py --write`, which asks the stand-in.",
        "",
        "| bundle | names | present | partial | absent |",
        "|---|--:|--:|--:|--:|",
    ]
    absent_lines = []
    total = [0, 0, 0, 0]
    for title, names in bundles:
        plain = [n.lstrip("~") for n in names]
        absent = [n for n in plain if not is_there(n)]
        partial = [n for n in names if n.startswith("~") and n[1:] not in absent]
        counts = [len(names), len(names) - len(partial) - len(absent), len(partial), len(absent)]
        total = [a + b for a, b in zip(total, counts)]
        lines.append(f"| {title} | " + " | ".join(map(str, counts)) + " |")
        if absent:
            absent_lines.append(f"- {title}: " + ", ".join(f"`{n}`" for n in absent))
    lines += ["| all | " + " | ".join(map(str, total)) + " |", "", "## Absent", ""]
    lines += (absent_lines or ["None."]) + ["", "## Partial", ""]
    lines += [f"- `{note.split(': ', 1)[0]}`: {note.split(': ', 1)[1]}" for note in notes]
    return "\n".join(lines) + "\n"


class NamesTest(unittest.TestCase):
    def test_the_document_says_what_is_there(self):
        self.assertEqual(DOCUMENT.read_text(), document(),
                         "run ttnn_names_test.py --write, and commit docs/ttnn_names.md")

    def test_what_most_scripts_use_is_there(self):
        for title, names in read_names()[0][:9]:
            absent = [n for n in names if not is_there(n.lstrip("~"))]
            self.assertLessEqual(len(absent), 0.15 * len(names), (title, absent))

    def test_a_missing_name_says_so(self):
        import howard.ttnn as ttnn

        with self.assertRaises(AttributeError) as caught:
            ttnn.matmull
        self.assertIn("ttnn.matmull is not in Howard's stand-in", str(caught.exception))
        self.assertIn("ttnn.matmul", str(caught.exception))
        self.assertIn("ttnn_names_test.py:", str(caught.exception))


if __name__ == "__main__":
    if "--write" in sys.argv:
        DOCUMENT.write_text(document())
    else:
        unittest.main()
