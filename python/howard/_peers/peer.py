# SPDX-License-Identifier: Apache-2.0
"""The child's side of the protocol that peer_process.h describes.

Each line is one JSON object. The child begins with {"ready": {facts in words}} or {"skip": "why"}.
It then answers each request, which is one of the words "step", "finish" and "loss", until its input
ends. {"error": "text"} may replace any answer.
"""

import json
import os
import sys


class Skip(Exception):
    """Says that something needed to run is not installed."""


def serve(set_up):
    """Sets up and answers requests.

    set_up() returns an object with `facts`, a dict of strings; step() and finish(), which return the
    picoseconds that they took; and loss(), which returns the last step's loss as a float.
    """
    # Everything else that is printed goes to standard error: standard output belongs to the protocol.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(**content):
        print(json.dumps(content), file=answers, flush=True)

    try:
        work = set_up()
    except Skip as reason:
        answer(skip=str(reason))
        return
    except Exception as failure:
        answer(error=f"{type(failure).__name__}: {failure}")
        return
    answer(ready=work.facts)
    for line in sys.stdin:
        request = line.strip()
        try:
            if request == "step":
                answer(ps=work.step())
            elif request == "finish":
                answer(ps=work.finish())
            elif request == "loss":
                answer(loss=work.loss())
            else:
                raise ValueError(f"unknown request '{request}'")
        except Exception as failure:
            answer(error=f"{type(failure).__name__}: {failure}")
