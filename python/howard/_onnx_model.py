# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX model on the emulated chip: what `run_experiment explain MODEL.onnx` starts.

usage: _onnx_model.py MODEL --workload FILE [--input NAME=1x3x224x224]... [--chip P]... [--set S]...
"""

import argparse
import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from howard import _native  # noqa: E402
from howard.ttnn import _onnx  # noqa: E402
from howard.ttnn._session import session  # noqa: E402


def _options():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--workload", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--chip", "--software", dest="profile", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    return parser.parse_args()


def _sizes(texts):
    sizes = {}
    for text in texts:
        name, _, shape = text.partition("=")
        parts = shape.split("x")
        if not name or not all(p.isdigit() and 0 < int(p) <= 1 << 24 for p in parts):
            raise ValueError(f"--input {text}: accepted: NAME=1x3x224x224")
        sizes[name] = [int(p) for p in parts]
    return sizes


def _start():
    options = _options()
    session.values, session.source = False, pathlib.Path(options.model).name
    session.profiles, session.settings = options.profile, options.set
    try:
        runner, nodes = _onnx.run(options.model, _sizes(options.input))
    except (_onnx.ModelError, ValueError, RuntimeError, _native.Error) as failure:
        print(f"run_experiment: {failure}", file=sys.stderr)
        sys.exit(1)
    pathlib.Path(options.workload).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(options.workload).write_text(session.workload_json())
    print(f"{options.model}: {nodes} nodes, {runner.calls} of them run on the chip",
          file=sys.stderr)
    if runner.left_out:
        missing = ", ".join(f"{op} x {n}" for op, n in runner.left_out.most_common())
        share = sum(runner.left_out.values()) / nodes
        print(f"left out, {share:.0%} of the nodes: {missing}", file=sys.stderr)


if __name__ == "__main__":
    _start()
