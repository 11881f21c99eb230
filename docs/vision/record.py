#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the models of this folder anew for the experiment `vision`: docs/vision/record.py PROGRAM."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDINGS = HERE.parent.parent / "experiments" / "recorded_models"
SCRIPTS = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("encoders", "record", "speech", "throughput"))


def record(program, script, recording):
    """Runs a script, writes what it asked of the device to the path `recording`, and returns what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            [pathlib.Path(program).resolve(), "python", "--no-values", "--no-what-if", "--virtual-clock",
             "--save-workload", recording, HERE / f"{script}.py"], cwd=folder, text=True, capture_output=True,
            timeout=120, check=False)
    if made.returncode != 0:
        raise RuntimeError(f"{script}.py ended with status {made.returncode}:\n{made.stderr}")
    return made.stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: docs/vision/record.py PROGRAM, the built run_experiment")
    for name in SCRIPTS:
        print(record(sys.argv[1], name, RECORDINGS / f"{name}.json"), end="")
