# SPDX-License-Identifier: Apache-2.0
"""What an op takes in a layout, and whether it fits: asked without a device."""

from __future__ import annotations

import array
import functools
import json
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import howard._native as _native
from howard._experiments import Settings, _settings

Tensors = Union[str, Sequence[Optional[str]]]
Live = Sequence[Union[int, Mapping[str, int]]]

_TIMES = ("kernel", "dispatch", "host", "expected_error", "rests_on", "bound_by", "launches", "matmul_config")
_CONSTRAINTS = (
    "legal",
    "reason",
    "circular_buffers",
    "exact_buffers",
    "tensors",
    "peak",
    "output_l1",
    "dram_of_bank",
    "outputs",
    "matmul_config",
)

_CODES = {
    **dict.fromkeys(("kernel", "dispatch", "host", "expected_error"), "d"),
    **dict.fromkeys(("circular_buffers", "tensors", "peak", "output_l1", "dram_of_bank", "launches"), "q"),
    **dict.fromkeys(("legal", "exact_buffers"), "b"),
}


@functools.lru_cache(maxsize=16)
def _model(chip: str, software: str, settings: Tuple[str, ...], dispatch: str, l1_small: int) -> Any:
    if dispatch not in ("worker", "eth"):
        raise ValueError(f"dispatch must be 'worker' or 'eth', not {dispatch!r}")
    return _native._OpModel(chip, software, list(settings), dispatch == "eth", l1_small)


def _ask(
    op: str,
    inputs: Tensors,
    outputs: Tensors,
    attributes: Optional[Mapping[str, Any]],
    live: Optional[Live],
    target: Sequence[Any],
) -> Dict[str, Any]:
    call: Dict[str, Any] = {**(attributes or {}), "op": op, "in": inputs}
    if outputs:
        call["out"] = outputs
    if live is not None:
        call["live"] = list(live)
    answer: Dict[str, Any] = _model(*target).answer(json.dumps(call))
    return answer


def op_constraints(
    op: str,
    inputs: Tensors,
    outputs: Tensors = (),
    *,
    attributes: Optional[Mapping[str, Any]] = None,
    live: Optional[Live] = None,
    chip: str = "wormhole_b0_n300",
    software: str = "",
    set: Optional[Settings] = None,
    dispatch: str = "worker",
    l1_small: int = 0,
) -> Dict[str, Any]:
    """Returns whether ttnn takes the call, why not, and what it takes of L1 and DRAM.

    A tensor is a text as in lists of ops: "64x1024 bfloat16 l1", "2048x32 height:8x8:32x32". Sizes are
    bytes of each core, or of each bank of DRAM. live has what is in L1, the operands among it: bytes of
    each core, or {"bytes": .., "address": ..}. Without it L1 is empty, and operands take nothing. set
    replaces constants, as for run().
    """
    answer = _ask(op, inputs, outputs, attributes, live, (chip, software, tuple(_settings(set)), dispatch, l1_small))
    return {name: answer[name] for name in _CONSTRAINTS}


def op_time(
    op: str,
    inputs: Tensors,
    outputs: Tensors = (),
    *,
    attributes: Optional[Mapping[str, Any]] = None,
    live: Optional[Live] = None,
    chip: str = "wormhole_b0_n300",
    software: str = "",
    set: Optional[Settings] = None,
    dispatch: str = "worker",
    l1_small: int = 0,
) -> Dict[str, Any]:
    """Returns the seconds of the kernels, of dispatching and of the host, and how far they are off.

    The arguments are those of op_constraints(). Raises ValueError, with ttnn's reason, for a call that
    it does not take.
    """
    answer = _ask(op, inputs, outputs, attributes, live, (chip, software, tuple(_settings(set)), dispatch, l1_small))
    if not answer["legal"]:
        raise ValueError(answer["reason"])
    return {name: answer[name] for name in _TIMES}


def op_queries(
    calls: Iterable[Union[str, Mapping[str, Any]]],
    *,
    chip: str = "wormhole_b0_n300",
    software: str = "",
    set: Optional[Settings] = None,
    dispatch: str = "worker",
    l1_small: int = 0,
) -> Dict[str, Any]:
    """Returns what op_time() and op_constraints() have of many calls, but for the outputs. Each name has
    an entry for every call: numbers are an array.array, which numpy.asarray() does not copy, and texts a
    list.

    A call is {"op": "matmul", "in": [..], "out": [..], "live": [..]}, whose other names are attributes,
    or its JSON text.
    """
    texts = [call if isinstance(call, str) else json.dumps(call) for call in calls]
    answers: Dict[str, List[Any]] = _model(chip, software, tuple(_settings(set)), dispatch, l1_small).answers(texts)
    return {name: array.array(_CODES[name], of) if name in _CODES else of for name, of in answers.items()}
