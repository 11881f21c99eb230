# SPDX-License-Identifier: Apache-2.0
"""Lets a script's own imports find the stand-in, and what such scripts import beside ttnn.

An installed ttnn is not touched: only this process looks here first. The helpers of tt-metal's own
repository are given only where the script has none.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import sys
import types

from . import _golden, _rounding
from ._session import now, region, session, signpost

FALLBACKS = ("tracy", "loguru", "pytest", "models.common.utility_functions",
             "models.utility_functions", "tests.ttnn.utils_for_testing",
             "tests.tt_eager.python_api_testing.sweep_tests.comparison_funcs", "models.common", "models", "tests", "tests.ttnn", "tests.tt_eager",
             "tests.tt_eager.python_api_testing", "tests.tt_eager.python_api_testing.sweep_tests",
             "tt_lib", "tt_lib.utils", "tt_lib.fallback_ops", "tt_lib.fallback_ops.fallback_ops",
             "tt_lib.fused_ops")
_OWN = {"tt_lib.utils": "howard.ttnn._tt_lib.utils",
        "tt_lib.fallback_ops": "howard.ttnn._tt_lib.fallback_ops",
        "tt_lib.fallback_ops.fallback_ops": "howard.ttnn._tt_lib.fallback_ops"}


class _Loader(importlib.abc.Loader):
    def __init__(self, make):
        self._make = make

    def create_module(self, spec):
        return self._make(spec.name)

    def exec_module(self, module):
        """Does nothing: the module is made whole."""


def _ttnn(name):
    """Returns ttnn itself, or a part of it."""
    module = importlib.import_module("howard.ttnn")
    for part in name.split(".")[1:]:
        found = getattr(module, part)
        if not isinstance(found, types.ModuleType):
            holder = types.ModuleType(name)
            holder.__dict__.update({k: getattr(found, k) for k in dir(found)
                                    if not k.startswith("__")})
            found = holder
        module = found
    return module


class _Deprecating(importlib.abc.Loader):
    """Gives typing_extensions before 4.5 the decorator that tt-metal's tests take from it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        if not hasattr(module, "deprecated"):
            module.deprecated = lambda *_, **__: lambda marked: marked


def _typing_extensions():
    spec = importlib.machinery.PathFinder.find_spec("typing_extensions")
    if spec is not None and spec.loader is not None:
        spec.loader = _Deprecating(spec.loader)
    return spec


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `ttnn` and what is below it."""

    def find_spec(self, name, path=None, target=None):
        if name == "typing_extensions":
            return _typing_extensions()
        if name != "ttnn" and not name.startswith("ttnn."):
            return None
        try:
            found = _ttnn(name)
        except AttributeError:
            own = _folder_of_user(name)
            if own is None:
                raise
            return own
        spec = importlib.machinery.ModuleSpec(name, _Loader(lambda _: found), is_package=True)
        return spec


def _folder_of_user(name):
    """Returns where a folder `ttnn` of the script's own has this module; None if none has it."""
    *packages, _ = name.split(".")
    places = [os.path.join(folder or ".", *packages) for folder in sys.path]
    return importlib.machinery.PathFinder.find_spec(name, places)


class _LastFinder(importlib.abc.MetaPathFinder):
    """Finds stand-ins for helpers that are not there; it is asked after every other finder."""

    def find_spec(self, name, path=None, target=None):
        if name not in FALLBACKS:
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(_fallback), is_package=True)


class _Logger:
    """Replaces loguru's logger where loguru is missing: what loguru shows by default goes to
    standard error."""

    def __init__(self):
        self._shows = True

    def _say(self, level, text, *args, **kwargs):
        if self._shows:
            text = str(text)
            print(f"{level:8} | {text.format(*args, **kwargs) if args or kwargs else text}",
                  file=sys.stderr)

    def log(self, level, text, *args, **kwargs):
        self._say(str(level), text, *args, **kwargs)

    def remove(self, *_):
        self._shows = False

    def add(self, *_, **__):
        self._shows = True
        return 1

    def bind(self, *_, **__):
        return self

    opt = patch = contextualize = bind

    def catch(self, function=None, **_):
        return function if callable(function) else lambda inner: inner

    def trace(self, *_, **__):
        """Shows nothing: this is below what loguru shows by default."""

    def __getattr__(self, name):
        if name in ("debug", "info", "success", "warning", "error", "critical", "exception"):
            level = "ERROR" if name == "exception" else name.upper()
            return lambda text, *args, **kwargs: self._say(level, text, *args, **kwargs)
        return lambda *args, **kwargs: None


def _fallback(name):
    if name in _OWN:
        return importlib.import_module(_OWN[name])
    module = types.ModuleType(name)
    module.__path__ = []
    if name == "tracy":
        module.signpost, module.Profiler = signpost, region
    elif name == "pytest":
        module.__dict__.update(_pytest())
    elif name == "loguru":
        module.logger = _Logger()
    elif name.endswith("utility_functions"):
        module.__dict__.update(_utility_functions())
    elif name.endswith(("utils_for_testing", "comparison_funcs")):
        names = ("assert_with_pcc", "assert_with_ulp", "assert_allclose", "assert_equal", "comp_pcc",
                 "comp_allclose", "comp_equal", "comp_ulp")
        module.__dict__.update({one: getattr(_golden, one) for one in names})
        module.check_with_pcc = lambda a, b, pcc=0.9999: _golden.comp_pcc(a, b, pcc)
        module.check_with_pcc_without_tensor_printout = module.check_with_pcc
        module.comp_allclose_and_pcc = lambda a, b, rtol=1e-5, atol=1e-8, pcc=0.99: (
            _golden.comp_pcc(a, b, pcc))
    return module


class _Marks:
    """Stands for pytest.mark: its decorators leave functions as they are."""

    def __getattr__(self, name):
        def decorate(*given, **_):
            plain = len(given) == 1 and callable(given[0])
            return given[0] if plain else (lambda function: function)

        return decorate


class _Near:
    """Implements pytest.approx of one number."""

    def __init__(self, expected, rel=1e-6, abs=1e-12, **_):
        self._expected, self._rel, self._abs = expected, rel or 1e-6, abs or 1e-12

    def __eq__(self, other):
        gap = self._rel * (self._expected if self._expected > 0 else -self._expected)
        return -max(gap, self._abs) <= other - self._expected <= max(gap, self._abs)


def _pytest():
    """Returns what scripts that are tests too need of pytest to be imported and run as scripts."""
    marks = _Marks()

    @contextlib.contextmanager
    def raises(kinds, match=None):
        try:
            yield types.SimpleNamespace(value=None)
        except kinds as failure:
            if match is not None and not re.search(match, str(failure)):
                raise AssertionError(f"{failure} does not match {match}") from failure
            return
        raise AssertionError(f"DID NOT RAISE {kinds}")

    def skip(reason="", **_):
        print(f"howard: skipped: {reason}", file=sys.stderr)
        raise SystemExit(0)

    def fail(reason="", **_):
        raise AssertionError(reason)

    return {"mark": marks, "fixture": marks.fixture, "raises": raises, "skip": skip, "fail": fail,
            "param": lambda *given, **_: given[0] if len(given) == 1 else given,
            "approx": _Near,
            "importorskip": lambda name, **_: importlib.import_module(name)}


def _utility_functions():
    def unchanged(*args, **kwargs):
        return args[0] if args and callable(args[0]) else (lambda function: function)

    def torch_random(shape, low, high, dtype):
        import torch  # A script may do without torch.

        if dtype in (torch.int64, torch.int32, torch.int16, torch.uint8):
            return torch.randint(int(low), int(high), shape, dtype=dtype)
        return torch.zeros(shape, dtype=dtype).uniform_(low, high)

    class Profiler:
        def __init__(self):
            self.times = {}

        def start(self, key, **_):
            self.times[key] = [now(), None]

        def end(self, key, **_):
            self.times[key][1] = now()

        def get(self, key):
            start, end = self.times[key]
            return end - start

        def __getattr__(self, name):
            return lambda *args, **kwargs: None

    helpers = {name: unchanged for name in """skip_for_grayskull skip_for_wormhole_b0
        skip_for_blackhole run_for_wormhole_b0 run_for_blackhole run_for_grayskull
        skip_for_n_or_less_dev""".split()}
    helpers.update(
        torch_random=torch_random, profiler=Profiler(), Profiler=Profiler,
        is_wormhole_b0=lambda *_: not session.is_blackhole,
        is_blackhole=lambda *_: session.is_blackhole, is_grayskull=lambda *_: False,
        is_x2_harvested=lambda *_: False, nearest_32=_rounding.roundup32,
        nearest_y=_rounding.roundup, divup=_rounding.divup,
        roundup32=_rounding.roundup32, comp_pcc=_golden.comp_pcc,
        comp_allclose=_golden.comp_allclose, comp_equal=_golden.comp_equal, comp_ulp=_golden.comp_ulp,
        enable_persistent_kernel_cache=lambda *_: None,
        disable_persistent_kernel_cache=lambda *_: None, disable_compilation_reports=lambda *_: None)
    return helpers


def install():
    """Makes the imports of this process find the stand-in from here on."""
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        sys.meta_path.append(_LastFinder())
    sys.modules["ttnn"] = importlib.import_module("howard.ttnn")
