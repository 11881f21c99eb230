# SPDX-License-Identifier: Apache-2.0
"""Runs steps of the Python engine's MLP for another process.

usage: engine_peer.py host BATCH WIDTH DTYPE THREADS
       engine_peer.py emulated BATCH WIDTH DTYPE worker|eth [--profile P]... [--set NAME=VALUE]...
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
        # On the host a step ends when it has run; on the chip steps follow without waiting.
        self._waits = options.backend == "host"
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
        if self._waits:
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
    parser.add_argument("backend", choices=["host", "emulated"])
    parser.add_argument("batch", type=int)
    parser.add_argument("width", type=int)
    parser.add_argument("dtype")
    parser.add_argument("where", help="threads of the host, dispatch cores of the chip")
    parser.add_argument("--profile", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    return parser.parse_args()


def set_up():
    options = read_arguments()
    try:
        import howard
        from howard import engine
    except ImportError as failure:
        raise peer.Skip(
            f"the Python module is not there ({failure}): install the packages python3-dev and "
            "pybind11-dev, then configure and build anew"
        ) from failure

    if options.backend == "host":
        device = howard.open_host(threads=int(options.where))
    else:
        device = howard.open_emulated(
            dispatch=options.where,
            values=False,
            profiles=options.profile,
            settings=options.set,
        )
    return EngineSteps(device, options, engine)


if __name__ == "__main__":
    peer.serve(set_up)
