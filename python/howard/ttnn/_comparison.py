# SPDX-License-Identifier: Apache-2.0
"""Implements the comparison mode: each call beside its golden function, once fast mode is off."""

import sys

from . import _convert, _golden, _graph, _launch

_expected = []  # for each call that is under way: what its golden function gives, or None


def _config():
    return sys.modules["howard.ttnn"].CONFIG


def _before(operation, args, kwargs):
    """Computes what is expected before the call, which may change its operands."""
    golden = operation.golden_function if _config().enable_comparison_mode else None
    if golden is None:
        _expected.append(None)
        return
    prepare = operation.preprocess_golden_function_inputs or _golden.to_golden
    plain, words = prepare(args, kwargs)
    _expected.append(golden(*plain, **words))


def _after(operation, args, kwargs, output):
    """Says on standard error, or by an error, which results are not what was expected."""
    expected = _expected.pop()
    if expected is None:
        return
    least = _config().comparison_mode_pcc
    pairs = zip(expected, output) if isinstance(output, (list, tuple)) else [(expected, output)]
    for index, (golden, made) in enumerate(pairs):
        if not _convert.is_torch(golden) or made is None:
            continue
        found = _golden.pearson_correlation_coefficient(golden, made)
        if found >= least:
            continue
        text = (f"{operation.python_fully_qualified_name}: output tensor {index} does not match its "
                f"golden function locally: its PCC is {found}, and {least} is expected")
        if _config().comparison_mode_should_raise_exception:
            raise RuntimeError(text)
        print(f"ERROR    | {text}", file=sys.stderr)


def install():
    """Lets each call be compared that a script makes, and no call within it."""
    _graph.PRE_HOOKS.append(_before)
    _graph.POST_HOOKS.append(_after)
    _launch.HOOKS[0] = (_graph.PRE_HOOKS, _graph.POST_HOOKS)
