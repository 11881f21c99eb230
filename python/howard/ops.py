# SPDX-License-Identifier: Apache-2.0
"""Every op as a function: howard.ops.silu(x), or howard.silu(x).

A function takes the op's tensors, by place or by the name of each, then its numbers, then its fields,
which are those of op_list, of workloads and of howard.op_time(). The functions are made of what the
kinds of ops say of themselves: help(howard.silu) shows what an op takes and gives.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import howard._native as _native
from howard._native import reshape  # which moves data only where it has to

__all__ = ["call", "names", "reshape"]

# What a result may be told to be, and where it is written.
_OF_RESULTS = {
    "shape": "dimensions of the first result, where they do not follow from the operands",
    "dtype": "its data type, where the op writes others",
    "layout": "its layout, tile or row_major, where the op writes both",
    "output": "the tensors that the results are written into, in place of new ones",
}


class _LeftOut:
    """The default of a field: what the op does without it."""

    def __repr__(self) -> str:
        return "<default>"


_LEFT_OUT = _LeftOut()


def names() -> List[str]:
    """The names of all ops, sorted."""
    return sorted(_native.op_names())


def call(op: str, *tensors: Any, scalar: Optional[float] = None, **arguments: Any) -> Any:
    """Any op by its name: call("silu", x), call("where", condition, a, b).

    op: the name, its numbers after colons ("clamp:0:6"), and functions of one value that follow in the
    same kernel after plus signs ("add+relu"). tensors: as many as the op takes. scalar: the last value of
    an elementwise op, where it is no tensor. arguments: the op's fields, and shape, dtype, layout and output
    as the op's own function has them. Gives a tensor, or a list where the op has several results.

    Raises Error for an unknown op, numbers or tensors that do not fit, and when a result does not fit
    into the device's memory.
    """
    asked = {name: arguments.pop(name, None) for name in _OF_RESULTS}
    output = asked.pop("output")
    given = [] if output is None else list(output) if isinstance(output, Sequence) else [output]
    made = _native._run_op(op, tensors, json.dumps(arguments), scalar, asked["shape"], asked["dtype"],
                           asked["layout"], given)
    results = given or made
    return results[0] if len(results) == 1 else results


def _words(roles: Sequence[Tuple[str, bool, bool, str]], elementwise: bool) -> List[str]:
    return [f"  {_name(name)}{'...' if repeats else ''}: {takes}"
            f"{', or a number' if elementwise and at > 0 else ', or none' if optional and not elementwise else ''}"
            for at, (name, optional, repeats, takes) in enumerate(roles)]


def _name(role: str) -> str:
    """Returns a role's name as one that an argument can have."""
    return re.sub(r"\W+", "_", role)


def _signature(op: Dict[str, Any]) -> inspect.Signature:
    """Returns the op's tensors, numbers and fields as arguments; a field that is left out has the op's default."""
    kind = inspect.Parameter
    place: Any = kind.POSITIONAL_OR_KEYWORD
    parameters = []
    for at, (name, _, repeats, _) in enumerate(op["operands"]):
        place = kind.VAR_POSITIONAL if repeats else place
        # The last value of an elementwise op may be a number, which is its field `scalar` then.
        by_field = op["elementwise"] and 0 < at == op["needed"] - 1
        left_out = kind.empty if repeats or at < op["needed"] and not by_field else None
        parameters.append(kind(_name(name), place, default=left_out))
        place = kind.KEYWORD_ONLY if repeats else place
    parameters += [kind(name, place, default=otherwise) for name, otherwise in op["numbers"]]
    taken = {one.name for one in parameters} | {"numbers"}  # which have names of their own
    place = kind.KEYWORD_ONLY if op["numbers"] or op["elementwise"] else place
    parameters += [kind(name, place, default=_LEFT_OUT) for name in op["fields"] if name not in taken]
    parameters += [kind(name, kind.KEYWORD_ONLY, default=None) for name in _OF_RESULTS]
    return inspect.Signature(parameters)


def _function(name: str) -> Callable[..., Any]:
    op = _native._describe_op(name)
    signature = _signature(op)
    operands = [_name(role[0]) for role in op["operands"]]

    may_end_in_number = op["elementwise"] and op["needed"] > 1
    is_listed = not any(repeats for _, _, repeats, _ in op["operands"])
    free = ({*op["fields"], *_OF_RESULTS} - {*operands, "numbers"}
            - {number for number, _ in op["numbers"]})

    def run(*places: Any, **given: Any) -> Any:
        # Tensors by place and fields by name need no sorting, which takes longer than all else that a call does.
        if may_end_in_number and len(places) == op["needed"] and isinstance(places[-1], (int, float)):
            if "scalar" in given:
                raise TypeError(f"{name}() has a number for its last value and a scalar; give one of them")
            places, given["scalar"] = places[:-1], places[-1]
        is_enough = op["needed"] - ("scalar" in given) <= len(places) <= len(operands)
        if is_listed and is_enough and free.issuperset(given) and all(
                isinstance(place, _native.Tensor) for place in places):
            return call(name, *places, **given)
        try:
            bound: Dict[str, Any] = dict(signature.bind(*places, **given).arguments)
        except TypeError as failure:
            raise TypeError(f"{name}() {failure}") from None
        tensors: List[Any] = []
        for operand in operands:
            value = bound.pop(operand, None)
            if isinstance(value, (int, float)) and op["elementwise"] and len(tensors) == len(operands) - 1:
                bound["scalar"] = value  # the last value is no tensor
            elif isinstance(value, tuple):
                tensors += value
            elif value is not None:
                tensors.append(value)
        numbers = [float(bound.pop(number, otherwise)) for number, otherwise in op["numbers"]]
        bound = {field: value for field, value in bound.items() if value is not _LEFT_OUT}
        return call(":".join([name, *map(repr, numbers)]), *tensors, **bound)

    run.__name__ = run.__qualname__ = name
    run.__module__ = "howard.ops"
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__doc__ = "\n".join([
        f"{name}: {op['meaning'] or 'ttnn calls it ' + op['ttnn']}.", "",
        "Takes", *_words(op["operands"], op["elementwise"]), "Gives", *_words(op["results"], False), "",
        *(f"{word}: {meaning}." for word, meaning in _OF_RESULTS.items()), "",
        "Raises Error, saying what the op takes, when tensors or arguments do not fit."])
    return run


def __getattr__(name: str) -> Callable[..., Any]:
    """Makes the function of an op when it is first asked for, and keeps it."""
    if name.startswith("_") or name not in _native.op_names():
        raise AttributeError(f"module 'howard.ops' has no attribute {name!r}")
    globals()[name] = made = _function(name)
    return made


def __dir__() -> List[str]:
    return sorted({*__all__, *names()})
