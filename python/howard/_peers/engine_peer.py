# SPDX-License-Identifier: Apache-2.0
"""Runs steps of the Python engine's MLP for another process.

usage: engine_peer.py BATCH WIDTH DTYPE THREADS
"""

import argparse
import pathlib
import platform
import sys

import peer

# This finds the package around this script, wherever it is installed.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))


class EngineSteps:
    def __init__(self, device, options, engine):
        self._device = device
        self._mlp = engine.Mlp(device, options.batch, options.width, options.dtype)
        self._loss = None
        device.finish()
        self.facts = {
            "implementation": f"Python {platform.python_version()}",
            "device": device.description,
        }

    def step(self):
        start = self._device.now_ps()
        self._loss = self._mlp.step()
        self._device.finish()
        return self._device.now_ps() - start

    def finish(self):
        start = self._device.now_ps()
        self._device.finish()
        return self._device.now_ps() - start

    def loss(self):
        return self._loss.read()[0, 0]


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("batch", type=int)
    parser.add_argument("width", type=int)
    parser.add_argument("dtype")
    parser.add_argument("threads", type=int)
    return parser.parse_args()


def set_up():
    options = read_arguments()
    try:
        import howard  # It may be missing: then it is skipped.
        from howard import engine  # It may be missing, too.
    except ImportError as failure:
        raise peer.Skip(
            f"the Python module is not there ({failure}): install the packages python3-dev and "
            "pybind11-dev, then configure and build anew"
        ) from failure

    return EngineSteps(howard.open_host(threads=options.threads), options, engine)


if __name__ == "__main__":
    peer.serve(set_up)
