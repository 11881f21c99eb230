#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what the documents show of the program again, from runs of the program that it is given.

docs/regenerate.py PROGRAM            puts the program's present output into README.md and docs/
docs/regenerate.py PROGRAM --check    changes nothing; says what is stale and ends with status 1 then. Of pictures it compares
                                      the virtual times with those that docs/pictures.json says they were drawn from
docs/regenerate.py PROGRAM --pictures draws the pictures of docs/ instead; the one of matmul_sweep has points of this
                                      machine's CPU, which take half a minute; --emulated draws it without them

An output in a document is a block below a comment that says which command prints it:

    <!-- shows: run_experiment explain -a m=4096 -->
    <!-- shows, 120 wide: run_experiment tune -a m=4096 -->    as on a terminal of that width

The command is a line of bash; `run_experiment` is the program, $REPOSITORY the tree, and the working folder is empty. The
block may leave lines out ("..." on a line of its own), leave the last columns of a table out, or others with "..." in its
head, break long lines and continue them below, indented, and cut a line ("..." at its end). All else must be what the
program prints, in its order. A line that begins with "$ " is a command.

An output that is not the same on every machine has <!-- measured: where and when --> above it, and is not checked.
Every block that is no command and in no language must have one of the two.
"""

import argparse
import concurrent.futures
import fcntl
import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["README.md", "docs/**/*.md"]
MARK = re.compile(r"<!-- (shows|measured|text)(?:, (\d+) wide)?: (.*?) -->$", re.S)
COMMAND = re.compile(r"^(\$ |\./run_|run_experiment |cmake |export |git |#|howard |apt |pip |HOWARD_|  )")
LONGEST = 118


class Block:
    """A fenced block of a document: its lines, and the comment above it."""

    def __init__(self, file, first, language, lines, mark):
        self.file, self.first, self.language, self.lines = file, first, language, lines
        self.kind, self.width, self.command = mark.groups() if mark else (None, None, None)

    def place(self):
        return f"{self.file.relative_to(REPOSITORY)}:{self.first}"


def blocks_of(file):
    lines = file.read_text().split("\n")
    found, i = [], 0
    while i < len(lines):
        if not lines[i].startswith("```"):
            i += 1
            continue
        end = lines.index("```", i + 1)
        above = i - 1
        while above >= 0 and not lines[above].strip():
            above -= 1
        begin = above
        while begin > 0 and "-->" in lines[above] and not lines[begin].startswith("<!--"):
            begin -= 1
        mark = MARK.match("\n".join(lines[begin:above + 1])) if above >= 0 else None
        found.append(Block(file, i + 1, lines[i][3:], lines[i + 1:end], mark))
        i = end + 1
    return found


def output_of(program, command, width):
    """Returns what a command prints, both streams together; with a width, as a terminal of that width shows it."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "run_experiment").symlink_to(program)
        (folder / "work").mkdir()
        # Its own, so that nobody's variables are in the documents.
        environment = dict(PATH=f"{folder}/bin:{os.environ['PATH']}", HOME=str(folder), REPOSITORY=str(REPOSITORY),
                           NO_COLOR="1", TERM="xterm", LC_ALL="C.UTF-8",
                           PYTHONPATH=str(python_folder(program)))
        reader, writer = os.pipe() if width is None else pty.openpty()
        if width is not None:
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(width), 0, 0))
        with subprocess.Popen(["bash", "-c", command], cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL,
                              stdout=writer, stderr=subprocess.PIPE) as process:
            os.close(writer)
            with concurrent.futures.ThreadPoolExecutor() as pool:
                errors = pool.submit(process.stderr.read)
                text = b"".join(iter(lambda: read_some(reader), b""))
                text += errors.result()
            os.close(reader)
        return text.decode(errors="replace").replace("\r\n", "\n")


def python_folder(program):
    """Returns where the build has put the Python package of this program."""
    return program.parents[2] / "python"


def read_some(descriptor):
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # how a terminal says that its other side is closed
        return b""


def words_of(text):
    return " ".join(text.split())


def is_rule(line):
    """Returns whether a line has no words: it is empty, or the rule below the head of a table."""
    return not line.strip(" -")


def segments_of(lines):
    """Returns the runs of lines between those that say that something is left out."""
    segments = [[]]
    for line in lines:
        if line.startswith("$ "):
            continue
        if line.strip() == "...":
            segments.append([])
        elif not is_rule(line):
            segments[-1].append(line)
    return [segment for segment in segments if segment]


def pattern_of(segment, gaps):
    """Returns an expression for lines of the output, of which a quoted line may leave out the end."""
    expression = ""
    for line in segment:
        wide = re.sub(r" {5,}", " ... ", line.strip()) if gaps else line
        quoted = re.escape(words_of(wide)).replace(r"\ \.\.\.\ ", ".*? ")
        quoted = quoted.replace(r"\ \.\.\.", ".*?").replace(r"\.\.\.", ".*?")
        if expression:
            # An indented line may go on with what the document has broken.
            expression += r"(?:(?: [^\n]*)?\n| )" if line.startswith("  ") else r"(?: [^\n]*)?\n"
        expression += quoted
    return expression + r"(?: [^\n]*)?\n"


def missing_segment(block, output):
    """Returns the first lines of the block that the program does not print; None if it prints them all."""
    text = "\n".join(words_of(line) for line in output.split("\n") if not is_rule(line)) + "\n"
    segments, begin = segments_of(block.lines), 0
    # Where a table says that columns are left out, they are left out of all its rows.
    gaps = any("..." in line.strip() and "  ...  " in line for segment in segments for line in segment)
    for segment in segments:
        found = re.compile("^" + pattern_of(segment, gaps), re.M).search(text, begin)
        if not found:
            return segment
        begin = found.end()
    return None


def shape_of(line):
    """Returns a line without its numbers, by which lines that differ in numbers alone are the same."""
    return re.sub(r"[-+]?[\d.]+", "0", words_of(line))


def like_of(quoted, printed, begin, whole=False):
    """Returns what the output says in place of a quoted line, and where: the line that is most like it of those that differ
    from it in numbers alone, as far as it goes; None without one. `whole`: it goes to its end."""
    cut = not whole and quoted.rstrip().endswith("...")
    wanted = shape_of(quoted.rstrip()[:-3] if cut else quoted)
    found = []
    for i in range(begin, len(printed)):
        shape = shape_of(printed[i])
        if shape == wanted:
            found.append((printed[i], i))
        elif cut and shape.startswith(wanted):
            found.append((printed[i][:len(quoted.rstrip()) - 3].rstrip() + "...", i))
        elif not whole and shape.startswith(wanted + " "):  # the last columns are left out
            words = list(re.finditer(r"\S+", printed[i]))
            found.append((printed[i][:words[len(wanted.split()) - 1].end()], i))
    equal = lambda one: sum(a == b for a, b in zip(one[0].split(), quoted.split()))
    return max(found, key=equal, default=None)  # the first of several


def renewed(block, output):
    """Returns the block's lines with what the program prints now, and the lines for which there is nothing like them."""
    printed = [line.rstrip() for line in output.split("\n")]
    result, lost, at, i = [], [], 0, 0
    while i < len(block.lines):
        line = block.lines[i]
        if line.startswith("$ ") or is_rule(line) or line.strip() == "...":
            result.append(line)
            i += 1
            continue
        # A line that the document has broken goes on in indented ones.
        parts, found = 4, None
        while parts > 1 and not found:
            parts -= 1
            rest = block.lines[i + 1:i + parts]
            if len(rest) == parts - 1 and all(one.startswith("  ") for one in rest):
                found = like_of(" ".join([line] + [one.strip() for one in rest]), printed, at, parts > 1)
        if found:
            at = found[1] + 1
            result.extend(textwrap.wrap(found[0], LONGEST, subsequent_indent="  ") if parts > 1 else [found[0]])
        else:
            lost.append(line)
            result.append(line)
        i += parts
    return result, lost


def unmarked(block):
    """Returns whether a block shows something of which it is not said where it comes from."""
    if block.kind or block.language:
        return False
    return not all(COMMAND.match(line) for line in block.lines if line.strip())


def all_blocks():
    files = sorted(file for pattern in DOCUMENTS for file in REPOSITORY.glob(pattern))
    return [block for file in files for block in blocks_of(file)]


def treat_texts(program, check):
    blocks = all_blocks()
    problems = [f"{block.place()}: this block does not say which command prints it" for block in blocks if unmarked(block)]
    shown = [block for block in blocks if block.kind == "shows"]
    commands = sorted({(block.command, block.width) for block in shown}, key=str)
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1))) as pool:
        outputs = dict(zip(commands, pool.map(lambda one: output_of(program, *one), commands)))
    stale = 0
    for block in shown:
        output = outputs[(block.command, block.width)]
        segment = missing_segment(block, output)
        if segment is None:
            continue
        stale += 1
        if check:
            problems.append(f"{block.place()}: the program no longer prints\n    " + "\n    ".join(segment))
            continue
        lines, lost = renewed(block, output)
        for line in lost:
            problems.append(f"{block.place()}: nothing like this is printed any more, change it by hand: {line}")
        text = block.file.read_text().split("\n")
        # Earlier blocks of the file may have changed their number of lines.
        begin = next(i for i in range(len(text)) if text[i:i + len(block.lines)] == block.lines and text[i - 1].startswith("```"))
        text[begin:begin + len(block.lines)] = lines
        block.file.write_text("\n".join(text))
    if check:
        problems += stale_pictures(program)
    print(f"{len(shown)} outputs of {len(commands)} commands, {stale} of them {'stale' if check else 'made again'}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


PICTURES = {
    "matmul_sweep.png": ["matmul_sweep"],
    "dram_sweep.png": ["matmul_sweep", "-a", "shape=512,1024,2048,4096", "-a", "dispatch=worker",
                       "--set", "dram.read.noc1=20..200:10GB/s"],
    "inference.png": ["inference"],
    "vision.png": ["vision"],
}
DRAWN = REPOSITORY / "docs" / "pictures.json"


def drawn_times(program, arguments):
    """Returns a checksum of the virtual times of a picture, which are the same on every machine."""
    with tempfile.TemporaryDirectory() as folder:
        times = pathlib.Path(folder) / "times.txt"
        subprocess.run([program, *arguments, "--backend", "emulated", "--times", times], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        return hashlib.sha256(times.read_bytes()).hexdigest()


def stale_pictures(program):
    """Names the pictures that show other virtual times than the program has now."""
    drawn = json.loads(DRAWN.read_text())
    return [f"docs/{picture}: it shows other times than the program has now; docs/regenerate.py PROGRAM --pictures"
            for picture, arguments in PICTURES.items() if drawn.get(picture) != drawn_times(program, arguments)]


def draw_pictures(program, emulated):
    for picture, arguments in PICTURES.items():
        only = picture != "matmul_sweep.png" or emulated
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([program, *arguments, *(["--backend", "emulated"] if only else []), "--results", folder],
                           check=True, stdout=subprocess.DEVNULL)
            shutil.copy(pathlib.Path(folder) / f"{arguments[0]}.png", REPOSITORY / "docs" / picture)
    drawn = {picture: drawn_times(program, arguments) for picture, arguments in PICTURES.items()}
    DRAWN.write_text(json.dumps(drawn, indent=2) + "\n")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--emulated", action="store_true")
    options = parser.parse_args()
    program = options.program.resolve()
    if options.pictures:
        return draw_pictures(program, options.emulated)
    return treat_texts(program, options.check)


if __name__ == "__main__":
    sys.exit(main())
