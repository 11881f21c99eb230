# SPDX-License-Identifier: Apache-2.0
# The compiled part of the package. The docstrings are in the functions themselves.
from typing import Any, Dict, List, Optional, Sequence, Tuple

from howard.results import Experiment

__version__: str
# What howard.ttnn and howard.ttml are made on.
_ttnn: Any
_ttml: Any
# howard.op_time(), op_constraints() and op_queries() are made on it.
_OpModel: Any

# Anything with the buffer protocol: array.array, memoryview, a NumPy array.
_Buffer = Any

class Error(RuntimeError):
    attempted: str
    value: str
    accepted: str
    hint: str

class Device:
    @property
    def description(self) -> str: ...
    @property
    def holds_values(self) -> bool: ...
    def tensor(self, values: _Buffer, dtype: str = "bfloat16", layout: str = "tile") -> Tensor: ...
    def full(self, shape: Sequence[int], value: float, dtype: str = "bfloat16") -> Tensor: ...
    def finish(self) -> None: ...
    def now_ps(self) -> int: ...
    def begin_trace_capture(self) -> None: ...
    def end_trace_capture(self) -> int: ...
    def execute_trace(self, trace: int) -> None: ...
    def release_trace(self, trace: int) -> None: ...
    def begin_memory(self, phase: str) -> None: ...
    def begin_memory_phase(self, phase: str) -> None: ...
    def end_memory(self) -> None: ...
    def memory_summary(self) -> str: ...
    def start_recording(self) -> None: ...
    def stop_recording(self) -> List[Dict[str, Any]]: ...

class Tensor:
    @property
    def device(self) -> Device: ...
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    def read(self) -> memoryview: ...
    def numpy(self) -> Any: ...
    def write(self, values: _Buffer) -> None: ...
    def __array__(self, dtype: Any = None) -> Any: ...

def open_host(threads: int = 0) -> Device: ...
def open_emulated(
    dispatch: str = "worker",
    values: bool = True,
    profiles: Sequence[str] = [],
    settings: Sequence[str] = [],
) -> Device: ...
def full_like(a: Tensor, value: float) -> Tensor: ...
def reshape(a: Tensor, shape: Sequence[int]) -> Tensor: ...
def op_names() -> List[str]: ...

# howard.ops makes the functions of the ops on these.
def _describe_op(name: str) -> Dict[str, Any]: ...
def _run_op(
    op: str,
    tensors: Sequence[Tensor],
    fields: str,
    scalar: Optional[float],
    shape: Optional[Sequence[int]],
    dtype: Optional[str],
    layout: Optional[str],
    out: Sequence[Tensor],
) -> List[Tensor]: ...

# These return JSON texts, which howard.run(), explain(), fit() and analyze() turn into Python values.
def experiments() -> List[Experiment]: ...
def run(
    name: str,
    axes: Sequence[str],
    backend: str,
    profiles: Sequence[str],
    settings: Sequence[str],
    filter: str,
    quick: bool,
    seed: int,
    repetitions: int,
    min_time: float,
    threads: int,
) -> str: ...
def explain(
    what: str, axes: Sequence[str], profiles: Sequence[str], settings: Sequence[str]
) -> str: ...
def fit(
    config: str,
    preset: str,
    model: str,
    device: str,
    multihost: str,
    data: str,
    tokenizer: str,
    keys: Sequence[str],
    engine: str,
    schedule: str,
    chunks: int,
    tiers: int,
    search: bool,
    profiles: Sequence[str],
    settings: Sequence[str],
) -> str: ...
def analyze(
    files: Sequence[str],
    compare_emulated: bool,
    advice: Optional[bool],
    start: str,
    end: str,
    all: bool,
    join: bool,
    zones: str,
    profiles: Sequence[str],
    settings: Sequence[str],
) -> str: ...
