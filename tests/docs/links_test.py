#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each link within the repository leads to a file and a heading that are there, and that README.md is short."""

import pathlib
import re
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^()\s]+)\)")
LONGEST_README = 150  # lines; the manual is in docs/


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors_of(file):
    """Returns the anchors that GitHub gives to the headings of a file."""
    headings = re.findall(r"^#+ (.*)$", without_code(file.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def problems_of(file):
    for target in LINK.findall(without_code(file.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (file.parent / path).resolve() if path else file
        if not there.exists():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors_of(there):
            yield f"{target}: there is no such heading"


def main():
    # A tree without git has all its files too.
    listed = subprocess.run(["git", "-C", REPOSITORY, "ls-files", "*.md"], capture_output=True, text=True, check=False)
    files = [REPOSITORY / name for name in listed.stdout.split()]
    files = sorted(file for file in files or REPOSITORY.glob("docs/**/*.md") if file.exists())
    problems = [f"{file.relative_to(REPOSITORY)}: {problem}" for file in files for problem in problems_of(file)]
    lines = len((REPOSITORY / "README.md").read_text().splitlines())
    if lines > LONGEST_README:
        problems.append(f"README.md has {lines} lines; at most {LONGEST_README} are read")
    print(f"{len(files)} documents, {len(problems)} problems")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
