#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that README.md and docs/ print, in a clone of a user's repository.

commands_test.py PROGRAM [PART]: PART is a part of the commands' places, for a closer look.

Each document has a folder of its own, in which its commands run in their order: a git repository with a script, stored
runs of two commits and the files that the documents name. A command must end with status 0, or with one that its
comment says ("# 3: slower"). One whose comment says that it takes minutes is interrupted after a moment. One that prints
only is run once, however many documents show it. A block that writes a script (`<<`) has names to be filled in, and is
not run.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "docs"))
import regenerate  # noqa: E402

# What is not run here, and why.
ELSEWHERE = [
    (r"^(\./run_tests|\.ci/run|cmake --|ctest |HOWARD_MAX_INSTRUCTION_SET)", "builds, which the test install does"),
    (r"^(#!|#SBATCH|srun )", "needs a cluster"),
    (r"pip install", "builds the module, of which the test python.wheel packs what is built"),
    (r"^docs/regenerate.py", "is another test"),
    (r"apt-get|apt install", "changes the machine"),
    (r"-m pytest", "needs a checkout of tt-metal"),
    (r"path/to/", "needs a model's config.json that is not here"),
    (r"TinyLlama", "needs weights that are not here"),
    (r"\.onnx", "needs a model that is not here"),
    (r"python docs/ttml/", "is in the test python.ttml_models"),
]
PRINTS_ONLY = r"run_experiment (explain|fit|tune) "
A_MOMENT = 4  # seconds
LONGEST = 300  # seconds, after which a command counts as one that does not end

STEP = """import ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.rand((256, 256), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.gelu(ttnn.matmul(a, a))
ttnn.close_device(device)
"""
BENCHMARK = """#!/bin/sh
echo '{"context": {}, "benchmarks": [{"name": "BM_a", "run_type": "iteration", "real_time": 100, "time_unit": "us"}]}'
"""
# A benchmark that CMake builds, as the workflow does.
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(bench LANGUAGES NONE)
configure_file(bench.sh ${CMAKE_BINARY_DIR}/bench COPYONLY)
"""


class Command:
    def __init__(self, place, line):
        self.place, self.line = place, line
        comment = re.search(r"\s#\s(.*)$", line)
        self.comment = comment.group(1) if comment else ""

    def takes_minutes(self):
        return "minute" in self.comment

    def allowed(self):
        """Returns the statuses that the document says: "3: slower, 6: missing or new"."""
        return {0} | {int(number) for number in re.findall(r"\b(\d): ", self.comment)}

    def elsewhere(self):
        return next((why for pattern, why in ELSEWHERE if re.search(pattern, self.line)), None)


def lines_of(block):
    """Returns the commands of a block, each in one line."""
    if block.language == "yaml":
        return workflow_lines(block.lines)
    shown = block.kind is not None
    lines, going_on = [], False
    for line in block.lines:
        if shown and not line.startswith("$ "):
            continue
        line = line[2:] if line.startswith("$ ") else line
        if going_on:
            lines[-1] = lines[-1][:-1] + line.strip()
        elif line.strip():
            lines.append(line)
        going_on = line.endswith("\\")
    return lines


def workflow_lines(text):
    """Returns a script for each job of a GitHub workflow: in a clone, its steps after a push to main, and then those of a
    pull request from the branch topic."""
    scripts, pushed, asked = [], [], []
    job, in_job, step = "", "", []

    def end_step():
        if step:
            (asked if any("pull_request" in line for line in [in_job, *step]) else pushed).extend(run_of(step))
        step.clear()

    def end_job():
        end_step()
        if pushed or asked:
            scripts.append("\n".join([f"git clone -q . job_{job} && cd job_{job} && git checkout -q main", *pushed,
                                      "git checkout -q topic", *pushed, *asked]))
        pushed.clear(), asked.clear()

    for line in text[text.index("jobs:") + 1:] + ["  end:"]:
        begin = re.match(r"  (\w+):", line)
        if begin:
            end_job()
            job, in_job = begin.group(1), ""
        elif line.startswith("      - "):
            end_step()
            step.append(line.replace("- ", "  ", 1))
        elif step:
            step.append(line)
        elif line.startswith("    if:"):
            in_job = line
    return scripts


def run_of(step):
    """Returns what a step of a workflow runs, if it runs something."""
    for i, line in enumerate(step):
        begin = re.match(r" +run: (.*)$", line)
        if not begin:
            continue
        more = [one.strip() for one in step[i + 1:] if one.strip()]
        text = {">": " ".join(more), "|": "\n".join(more)}.get(begin.group(1), begin.group(1))
        return [text.replace("${{ github.base_ref }}", "main")]
    return []


def commands():
    """Returns the commands of each document."""
    found = {}
    for block in regenerate.all_blocks():
        if block.kind == "text" or block.language not in ("", "bash", "sh", "yaml"):
            continue
        if any("<<" in line for line in block.lines):
            continue
        for line in lines_of(block):
            found.setdefault(block.file, []).append(Command(block.place(), line))
    return found


def run(command, folder, environment, limit=None):
    """Returns the status and the end of what is printed; after `limit` seconds the command is interrupted, and killed if it
    goes on for as long again."""
    with subprocess.Popen(["bash", "-e", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            text, _ = process.communicate(timeout=limit or LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            try:
                text, _ = process.communicate(timeout=limit or LONGEST)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                text, _ = process.communicate()
            return (0 if limit else -1), text.decode(errors="replace")
        return process.returncode, text.decode(errors="replace")


def must(command, folder, environment):
    status, text = run(command, folder, environment)
    if status != 0:
        sys.exit(f"the folder of the commands cannot be made: {command}\n{text}")


def make_repository(folder, environment):
    """Makes a user's repository: two commits of main with a stored run each, and a topic."""
    (folder / "bench").mkdir()
    (folder / "bench" / "step.py").write_text(STEP)
    for name in ("old", "new", "bench.sh"):
        (folder / name).write_text(BENCHMARK)
        (folder / name).chmod(0o755)
    for name in ("old.json", "new.json"):
        (folder / name).write_text('[{"name": "step", "unit": "ms", "value": 3}]')
    (folder / "CMakeLists.txt").write_text(PROJECT)
    script = regenerate.blocks_of(REPOSITORY / "docs" / "ttnn.md")
    text = next("\n".join(block.lines) for block in script if block.language == "python")
    (folder / "step.py").write_text(text + "\n")
    (folder / "train.py").write_text(text + "\n")
    (folder / "chk.py").write_text(text + "\n")
    shutil.copy(REPOSITORY / "data" / "ttml" / "train_tinyllama.yaml", folder / "training.yaml")
    shutil.copy(REPOSITORY / "data" / "ttml" / "tinyllama.yaml", folder)
    models = REPOSITORY / "experiments" / "language_models" / "known_models.json"
    (folder / "config.json").write_text(json.dumps(json.loads(models.read_text())["llama-3.2-1b"]))
    os.symlink(REPOSITORY / "data", folder / "data")
    os.symlink(REPOSITORY / "docs", folder / "docs")
    os.symlink(shutil.which("run_experiment", path=environment["PATH"]), folder / "run_experiment")
    must("git init -q -b main . && git add bench bench.sh CMakeLists.txt && git commit -q -m first && git tag v1 && "
         "git remote add origin . && git update-ref refs/remotes/origin/main main", folder, environment)
    # The first commit took twice as long for one product.
    sweep = "run_experiment matmul_sweep --backend emulated -a shape=128,4096"
    must(f"{sweep} --results OLD --times now.txt && "
         "sed '/4096.*eth/s/ time .*/ time 4000000000/' now.txt > before.txt && "
         "run_experiment track before.txt --db perf.db && git commit -q --allow-empty -m second && "
         "run_experiment track OLD --db perf.db && git update-ref refs/remotes/origin/main main && "
         f"git checkout -q -b topic && git commit -q --allow-empty -m third && {sweep} --results results",
         folder, environment)
    log = "run_experiment op_list -a ops=256x256/linear:256/gelu -a dispatch=worker -a engine=dynamic --backend emulated"
    must(f"{log} --device-logs logs --results logs && cp logs/op_list/*/ops_perf_results.csv LOG.csv && "
         "cp logs/op_list/*/profile_log_device.csv . && cp LOG.csv OLD.csv", folder, environment)
    head, *rows = (folder / "LOG.csv").read_text().splitlines()
    signpost = "{},signpost" + "," * (head.count(",") - 1)
    (folder / "LOG.csv").write_text("\n".join([head, signpost.format("forward"), *rows, signpost.format("backward")])
                                    + "\n")
    (folder / "module.mlir").write_text(
        "#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, bf16>, "
        "#ttnn.buffer_type<dram>>, <interleaved>>\nfunc.func @main() {\n"
        '%1 = "ttnn.relu"(%0) : (tensor<64x64xbf16, #l>) -> tensor<64x64xbf16, #l>\n}\n')
    report = folder / "generated" / "profiler" / "reports" / "2026_07_01"
    report.mkdir(parents=True)
    shutil.copy(folder / "OLD.csv", report / "ops_perf_results_2026_07_01.csv")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    failures, seen, count, skipped = [], set(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        tools = pathlib.Path(name) / "bin"
        tools.mkdir()
        for word in ("run_experiment", "howard"):
            (tools / word).symlink_to(program)
        home = pathlib.Path(name) / "home"
        home.mkdir()
        (home / ".gitconfig").write_text("[user]\n name = t\n email = t@example.org\n")
        # A user's own build may want make; here only ninja is sure to be there, as Howard is built with it.
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", HOME=str(home), NO_COLOR="1",
                           TERM="dumb", CMAKE_GENERATOR="Ninja", PYTHONPATH=str(regenerate.python_folder(program)))
        seed = pathlib.Path(name) / "seed"
        seed.mkdir()
        make_repository(seed, environment)
        for file, found in commands().items():
            if not any(part in command.place for command in found):
                continue
            folder = pathlib.Path(name) / file.stem
            shutil.copytree(seed, folder, symlinks=True)
            for command in found:
                line = command.line.split(" #")[0].strip()
                if command.elsewhere() or line in seen and re.search(PRINTS_ONLY, line):
                    skipped += 1
                    continue
                seen.add(line)
                start = time.monotonic()
                status, text = run(command.line, folder, environment,
                                   A_MOMENT if command.takes_minutes() else None)
                count += 1
                print(f"{time.monotonic() - start:6.1f} s  {status:3}  {command.place}: {command.line}", flush=True)
                if status not in command.allowed():
                    failures.append(f"{command.place}: {command.line}\n    ended with status {status}; it says\n"
                                    + "\n".join("    " + line for line in text.splitlines()[-8:]))
    print(f"{count} commands, {skipped} left out, {len(failures)} failed")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
