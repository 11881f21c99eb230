# SPDX-License-Identifier: Apache-2.0
"""Experiments, explanations and logs; the work is done by howard._native, without a process."""

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
    if isinstance(given, (str, int, float)):
        return _word(given)
    return ",".join(_word(value) for value in given)


def _assignments(values: Axes) -> List[str]:
    """["shape=1024,2048"] for {"shape": [1024, 2048]}."""
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
    """The experiments that run() knows, each with its question and, by backend, its axes."""
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
    """Runs an experiment and gives its result: the dict that the program writes as JSON.

    name: as `run_experiment list` has it, and experiments().
    axes: values that replace an axis's own, one or several: {"shape": [1024, "512x1024x2048"]}.
    backend: "emulated" for the Wormhole in virtual time, "host" for this machine's CPU in wall time,
        "emulated,host" for both; by default the first of them that the experiment runs on.
    set: constants of the chip or the software: {"dram.read.noc1": "190GB/s"}. Several values, or a
        range "1..100:1cycles", make a constant an axis.
    profile: a built-in profile or a file with one, or one of the chip and one of the software.
    filter: a regular expression on the points' ids; with a leading "-" those that it leaves out.
    quick: the axes' shorter lists of values.
    seed: of the values that fill host tensors.
    repetitions, min_time: of each host point, the seconds of one repetition at least.
    threads: 0 for all that the process may use.

    A point that cannot run is in the result, with "skipped" saying why. Raises Error when nothing
    can be run, and KeyboardInterrupt after Ctrl-C, between two points or repetitions.
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
    """Says what a point is bound by and what would make it faster, as a result.

    what: "matmul", "mlp", "gpt2", "ops", or an experiment that is timed on the emulator; by default a
        product, whose sizes the axes m, k and n give.
    axes: one value each: {"m": 4096, "k": 4096, "n": 4096}.
    set, profile: as for run().

    The first point is the one that was asked about, with its costs as metrics; each other one is a
    run with one thing changed. Raises Error and KeyboardInterrupt as run() does.
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
    """Says where the time of logs went: ops_perf_results CSV, profile_log_device.csv, Chrome traces.

    A log gives a result of each kind that has points: "log_devices", "log_ops", "log_gaps" (idle time
    by the ops before and after it), "log_sections" and "log_host_ops". A file of results gives
    those. With compare_emulated each ops_perf_results CSV gives its ops beside the emulator, which
    set and profile change as for run().

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
