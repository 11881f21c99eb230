# SPDX-License-Identifier: Apache-2.0
"""Measures the pictures of all experiments in several sizes, as drawn: no text leaves its picture or lies on another one,
and the plot has at least half of the width.

pictures_test.py PROGRAM. Widths of texts are taken from the widest usual font, so that what is found is there on some
machine. Without gnuplot the test is skipped (status 77).
"""

import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SIZES = ["400x300", "640x480"]

TEXT = re.compile(r'<g transform="translate\(([-\d.]+),([-\d.]+)\)( rotate\(([-\d.]+)\))?"[^>]*font-size="([\d.]+)"'
                  r'\s+text-anchor="(\w+)">\s*<text>(.*?)</text>', re.S)
# The widths of letters of DejaVu Sans, in thousandths of its size; a digit's for all others.
WIDTHS = {**dict.fromkeys("ijlI'|", 278), **dict.fromkeys(" .,", 318), **dict.fromkeys("ft()[]-r/:;", 400),
          **dict.fromkeys("cksvxyz_*", 570), **dict.fromkeys("mM%wW+", 900), **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ", 690)}


def boxes_of(svg):
    """Returns (left, top, right, bottom, words) of each text."""
    boxes = []
    for x, y, _, angle, size, anchor, words in TEXT.findall(svg):
        words = html.unescape(re.sub(r"<[^>]*>", "", words)).strip()
        if not words:
            continue
        x, y, size = float(x), float(y), float(size)
        wide = size * sum(WIDTHS.get(letter, 636) for letter in words) / 1000
        begin = {"start": 0, "middle": -wide / 2, "end": -wide}[anchor]
        up, down = 0.72 * size, 0.2 * size
        if angle:
            turned = float(angle) % 360
            if turned > 180:
                boxes.append((x - up, y - begin - wide, x + down, y - begin, words))
            # A slanted label is beside its neighbours: its box says nothing.
            continue
        boxes.append((x + begin, y - up, x + begin + wide, y + down, words))
    return boxes


def problems_of(name, svg, script):
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    boxes = boxes_of(svg)
    if len(boxes) < 4:
        yield f"{name}: only {len(boxes)} texts were found"
    for left, top, right, bottom, words in boxes:
        if left < 0 or top < 0 or right > width or bottom > height:
            yield f"{name}: '{words}' leaves the picture: {left:.0f} to {right:.0f}, {top:.0f} to {bottom:.0f}"
    for i, one in enumerate(boxes):
        for other in boxes[i + 1:]:
            across = min(one[2], other[2]) - max(one[0], other[0])
            up = min(one[3], other[3]) - max(one[1], other[1])
            if across > 1 and up > 1:
                yield f"{name}: '{one[4]}' and '{other[4]}' lie on each other"
    left = float(re.search(r"set lmargin at screen ([\d.]+)", script).group(1))
    right = float(re.search(r"set rmargin at screen ([\d.]+)", script).group(1))
    if right - left < 0.5:
        yield f"{name}: the plot has {right - left:.2f} of the width"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("gnuplot"):
        print("skipped: there is no gnuplot on PATH")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*words):
            subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

        svg = ["--picture-format", "svg"]
        run("all", "--backend", "emulated", "--results", "r", "--pictures", "usual", *svg)
        run("report", "r", "--paper", "paper")
        for size in SIZES:
            sized = [*svg, "--picture-size", size]
            run("all", "--backend", "emulated", "--results", "r", "--pictures", size, *sized)
            run("matmul_sweep", "--backend", "emulated", "-a", "shape=512,1024,2048,4096", "-a", "dispatch=worker",
                "--set", "dram.read.noc1=20..200:20GB/s", "--results", "s", "--pictures", size + "/lines", *sized)
            run("matmul_sweep", "--backend", "emulated", "-a", "shape=512,1024,2048,4096", "-a", "dispatch=worker",
                "--set", "dram.read.noc1=20..200:20GB/s", "--set", "host.op_call=5..60:5us", "--results", "s",
                "--pictures", size + "/map", *sized)
            run("tune", "-a", "m=2048", "-a", "k=2048", "-a", "n=2048", "--results", size + "/tune", *sized)
        pictures = sorted(folder.glob("**/*.svg"))
        found = []
        for picture in pictures:
            script = picture.with_suffix(".gp").read_text()
            found += problems_of(picture.relative_to(folder), picture.read_text(), script)
        print("\n".join(found))
        print(f"{len(pictures)} pictures, {len(found)} problems")
        return 1 if found or len(pictures) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
