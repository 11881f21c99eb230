# SPDX-License-Identifier: Apache-2.0
"""An emulated Tenstorrent Wormhole, and this machine's CPU, from Python.

open_emulated() and open_host() open devices; the ops below compute on their tensors. Each op
allocates its result and enqueues one program. On an emulated device, each op also adds the time of
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
from howard._native import (
    Device,
    Error,
    Tensor,
    __version__,
    adamw,
    add,
    call,
    cast,
    concat_heads,
    cross_entropy,
    cross_entropy_backward,
    dropout,
    embedding,
    embedding_backward,
    erf,
    exp,
    full_like,
    gelu,
    gelu_backward,
    gtz,
    layernorm,
    layernorm_backward,
    matmul,
    max,
    mean,
    multiply,
    op_names,
    open_emulated,
    open_host,
    reciprocal,
    relu,
    reshape,
    rsqrt,
    softmax,
    softmax_backward,
    split_heads,
    sqrt,
    square,
    subtract,
    sum,
    to_layout,
    transpose,
)
from howard._op import op_constraints, op_queries, op_time
from howard._virtual import now, region

__all__ = [
    "Device",
    "Error",
    "Tensor",
    "__version__",
    "adamw",
    "add",
    "analyze",
    "call",
    "cast",
    "concat_heads",
    "cross_entropy",
    "cross_entropy_backward",
    "dropout",
    "embedding",
    "embedding_backward",
    "erf",
    "exp",
    "experiments",
    "explain",
    "fit",
    "full_like",
    "gelu",
    "gelu_backward",
    "gtz",
    "layernorm",
    "layernorm_backward",
    "matmul",
    "max",
    "mean",
    "multiply",
    "now",
    "op_constraints",
    "op_names",
    "op_queries",
    "op_time",
    "open_emulated",
    "open_host",
    "reciprocal",
    "region",
    "relu",
    "reshape",
    "rsqrt",
    "run",
    "softmax",
    "softmax_backward",
    "split_heads",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "to_layout",
    "transpose",
]
