# SPDX-License-Identifier: Apache-2.0
"""Experiments, explanations and logs. howard._native does the work, in this process."""

from __future__ import annotations

import json
import os
from typing import Iterable, List, Mapping, Optional, Union

import howard._native as _native
from howard.results import Experiment, Result

Value = Union[str, int, float, bool]
Axes = Mapping[str, Union[Value, Iterable[Value]]]
Settings = Union[str, Iterable[str], Axes]
Profiles = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


def _word(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _words(given: Union[Value, Iterable[Value]]) -> str:
    if isinstance(given, str) or not isinstance(given, Iterable):
        return _word(given)
    return ",".join(_word(value) for value in given)


def _assignments(values: Axes) -> List[str]:
    """Returns ["shape=1024,2048"] for {"shape": [1024, 2048]}."""
    return [f"{name}={_words(given)}" for name, given in values.items()]


def _settings(given: Optional[Settings]) -> List[str]:
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    return _assignments(given) if isinstance(given, Mapping) else list(given)


def _profiles(given: Optional[Profiles]) -> List[str]:
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    return [os.fspath(one) for one in given]


def experiments() -> List[Experiment]:
    """Returns the experiments that run() knows, each with its question and its axes by backend."""
    return _native.experiments()


def run(
    name: str,
    *,
    axes: Optional[Axes] = None,
    backend: Optional[str] = None,
    set: Optional[Settings] = None,
    profile: Optional[Profiles] = None,
    filter: str = "",
    quick: bool = False,
    seed: int = 1,
    repetitions: int = 9,
    min_time: float = 0.1,
    threads: int = 0,
) -> Result:
    """Runs an experiment and returns its result: the dict that the program writes as JSON.

    name: a name that `run_experiment list` or experiments() gives.
    axes: one or several values that replace those of an axis: {"shape": [1024, "512x1024x2048"]}.
    backend: "emulated" for the Wormhole in virtual time, "host" for this machine's CPU in wall
        time, "emulated,host" for both. The default is the first of them that the experiment runs on.
    set: constants of the chip or the software: {"dram.read.noc1": "190GB/s"}. Several values, or a
        range "1..100:1cycles", turn a constant into an axis.
    profile: a built-in profile or the file of one; or two of them, one for the chip and one for the
        software.
    filter: a regular expression that selects points by their ids; with a leading "-" it excludes
        them.
    quick: whether to use the axes' shorter lists of values.
    seed: the seed of the values that fill host tensors.
    repetitions: how often each host point is repeated.
    min_time: the least number of seconds of one repetition.
    threads: the number of threads on the host; 0 means all that the process may use.

    A point that cannot run is in the result; its "skipped" says why. Raises Error when nothing can
    be run, and KeyboardInterrupt after Ctrl-C, between two points or repetitions.
    """
    result: Result = json.loads(
        _native.run(
            name,
            axes=_assignments(axes or {}),
            backend=backend or "",
            profiles=_profiles(profile),
            settings=_settings(set),
            filter=filter,
            quick=quick,
            seed=seed,
            repetitions=repetitions,
            min_time=min_time,
            threads=threads,
        )
    )
    return result


def explain(
    what: str = "",
    *,
    axes: Optional[Axes] = None,
    set: Optional[Settings] = None,
    profile: Optional[Profiles] = None,
) -> Result:
    """Returns, as a result, what bounds a point and what would make it faster.

    what: "matmul", "mlp", "gpt2", "ops", an experiment that is timed on the emulator, or the file
        of a recorded program or of a log. The default is a product, whose sizes are the axes m, k
        and n.
    axes: one value for each: {"m": 4096, "k": 4096, "n": 4096}.
    set, profile: as for run().

    The first point is the one that was asked about, with its costs as metrics. Each other point is
    a run with one thing changed. Raises Error and KeyboardInterrupt as run() does.
    """
    result: Result = json.loads(
        _native.explain(
            what,
            axes=_assignments(axes or {}),
            profiles=_profiles(profile),
            settings=_settings(set),
        )
    )
    return result


def analyze(
    *files: Union[str, "os.PathLike[str]"],
    compare_emulated: bool = False,
    set: Optional[Settings] = None,
    profile: Optional[Profiles] = None,
) -> List[Result]:
    """Returns where the time went in logs: ops_perf_results CSV, profile_log_device.csv or Chrome
    traces.

    For each log, there is one result of each kind that has points: "log_devices", "log_ops",
    "log_gaps" (idle time by the ops before and after it), "log_sections" and "log_host_ops". For a
    file of results, these results are returned. With compare_emulated, the ops of each
    ops_perf_results CSV stand beside those of the emulator, which set and profile change as for
    run().

    Raises Error for a file that cannot be read, or in which nothing ran.
    """
    results: List[Result] = []
    for file in files:
        text = _native.analyze(
            os.fspath(file),
            compare_emulated=compare_emulated,
            profiles=_profiles(profile),
            settings=_settings(set),
        )
        found = json.loads(text)
        results += found if isinstance(found, list) else [found]
    return results
