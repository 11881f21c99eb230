# SPDX-License-Identifier: Apache-2.0
"""Implements the comparison mode: each call beside its golden function, once fast mode is off. Locally a
golden function gets what the call gets; globally, what the golden functions before it gave."""

import sys
import weakref
from typing import Any, Dict

from . import _convert, _golden, _graph, _launch, database
from ._operations.core import to_torch
from ._reported_calls import report_path
from ._tensor import Tensor, new_tensor_number

_expected = []  # for each call that is under way: what its golden function gives, or None
_goldens: Dict[int, Any] = {}  # what golden functions gave, by the number of the tensor that it is for


def _config():
    return sys.modules["howard.ttnn"].CONFIG


def _say(level, text):
    print(f"{level:8} | {text}", file=sys.stderr)


def _global_golden(tensor):
    """Returns what golden functions gave for a tensor; its own values where none of them made it."""
    if tensor.tensor_id not in _goldens:
        _say("WARNING", f"tensor {tensor.tensor_id} is no result of a golden function: its own values "
             "are taken")
        _keep(tensor, to_torch.function(tensor))
    return _goldens[tensor.tensor_id]


def _keep(tensor, golden):
    """Keeps a golden tensor as long as its own lives."""
    if tensor.tensor_id not in _goldens:
        weakref.finalize(tensor, _goldens.pop, tensor.tensor_id, None)
    _goldens[tensor.tensor_id] = golden


def _before(operation, args, kwargs):
    """Computes what is expected before the call, which may change its operands."""
    golden = operation.golden_function if _config().enable_comparison_mode else None
    if golden is None:
        _expected.append(None)
        return
    prepare = operation.preprocess_golden_function_inputs or _golden.to_golden
    plain, words = prepare(args, kwargs)
    locally = golden(*plain, **words)
    plain, words = _golden.each(
        lambda one: _global_golden(one) if isinstance(one, Tensor) else one, (tuple(args), kwargs))
    _expected.append((locally, golden(*plain, **words)))


def _listed(given):
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _after(operation, args, kwargs, output):
    """Says on standard error, or by an error, which results are not what was expected."""
    expected = _expected.pop()
    if expected is None:
        return
    failed = []
    for index, made in enumerate(_listed(output)):
        found = []
        for where, golden in zip(("locally", "globally"), expected):
            golden = dict(enumerate(_listed(golden))).get(index)
            if made is None or not _convert.is_torch(golden):
                continue
            pcc = _golden.pearson_correlation_coefficient(golden, made)
            _record(where, made, pcc)
            if pcc < _config().comparison_mode_pcc:
                found.append(f"{where}: its PCC is {pcc}")
            if where == "globally" and isinstance(made, Tensor):
                _keep(made, golden)
        if found:
            failed.append(f"{operation.python_fully_qualified_name}: output tensor {index} does not "
                          f"match its golden function {' and '.join(found)}, and "
                          f"{_config().comparison_mode_pcc} is expected")
    if failed and _config().comparison_mode_should_raise_exception:
        raise RuntimeError("\n".join(failed))
    for text in failed:
        _say("ERROR", text)


def _record(where, made, pcc):
    """Writes a comparison to the report, if there is one."""
    if report_path() is None or not isinstance(made, Tensor):
        return
    least = _config().comparison_mode_pcc
    record = database.TensorComparisonRecord(made.tensor_id, new_tensor_number(), pcc >= least,
                                             least, pcc)
    name = "local" if where == "locally" else "global"
    database.insert_tensor_comparison_records(report_path(), f"{name}_tensor_comparison_records",
                                              [record])


def install():
    """Lets each call be compared that a script makes, and no call within it."""
    _graph.PRE_HOOKS.append(_before)
    _graph.POST_HOOKS.append(_after)
    _launch.HOOKS[0] = (_graph.PRE_HOOKS, _graph.POST_HOOKS)
