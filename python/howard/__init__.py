# SPDX-License-Identifier: Apache-2.0
"""An emulated Tenstorrent Wormhole, and this machine's CPU, from Python.

open_emulated() and open_host() open devices; howard.ops has the ops that compute on their tensors, which
are here, too: howard.matmul(a, b). Each op allocates its result and enqueues one program. On an emulated device, each op also adds the time of
a call from Python to the host's clock. howard.engine is the report's autograd engine, written with
these ops.

Failures raise howard.Error, which says what was attempted, with which value, what is accepted and
what to try. Nothing here prints.

run(), explain(), fit() and analyze() are the program's experiments and analyses. They return dicts
and lists with the content of the JSON that the program writes (howard.results has their types); those
of experiments have rows() and to_dataframe(), and a notebook shows them as tables.

op_time(), op_constraints() and op_queries() say what a call of an op takes, without any device.
"""

from howard._experiments import analyze, experiments, explain, fit, run
from typing import Any, Callable, List

from howard import ops
from howard._native import Device, Error, Tensor, __version__, full_like, op_names, open_emulated, open_host, reshape
from howard._op import op_constraints, op_queries, op_time
from howard._virtual import now, region
from howard.ops import call

__all__ = [
    "Device",
    "Error",
    "Tensor",
    "__version__",
    "analyze",
    "call",
    "experiments",
    "explain",
    "fit",
    "full_like",
    "now",
    "op_constraints",
    "op_names",
    "op_queries",
    "op_time",
    "open_emulated",
    "open_host",
    "ops",
    "region",
    "reshape",
    "run",
]


def __getattr__(name: str) -> Callable[..., Any]:
    """Returns the function of an op: howard.silu is howard.ops.silu. Later it is found without this."""
    if name.startswith("_") or name not in op_names():
        raise AttributeError(f"module 'howard' has no attribute {name!r}")
    function: Callable[..., Any] = getattr(ops, name)
    globals()[name] = function
    return function


def __dir__() -> List[str]:
    return sorted({*__all__, *ops.names()})
