# SPDX-License-Identifier: Apache-2.0
"""Experiments, explanations, plans of trainings and logs. howard._native does the work, in this process."""

from __future__ import annotations

import json
import os
from typing import Iterable, List, Mapping, Optional, Union

import howard._native as _native
from howard.results import Experiment, Fit, Result

Value = Union[str, int, float, bool]
Axes = Mapping[str, Union[Value, Iterable[Value]]]
Settings = Union[str, Iterable[str], Axes]
Path = Union[str, "os.PathLike[str]"]
Keys = Mapping[str, Union[Value, None, List[Value]]]


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


def _profiles(*given: Optional[Path]) -> List[str]:
    return [os.fspath(one) for one in given if one is not None]


def experiments() -> List[Experiment]:
    """Returns the experiments that run() knows, each with its question and its axes by backend."""
    return _native.experiments()


def run(
    name: str,
    *,
    axes: Optional[Axes] = None,
    backend: Optional[str] = None,
    set: Optional[Settings] = None,
    chip: Optional[Path] = None,
    software: Optional[Path] = None,
    filter: str = "",
    quick: bool = False,
    seed: int = 1,
    repetitions: int = 9,
    min_time: float = 0.1,
    threads: int = 0,
) -> Result:
    """Runs an experiment and returns its result: the dict that the program writes as JSON, as a Result.

    name: a name that `run_experiment list` or experiments() gives.
    axes: one or several values that replace those of an axis: {"shape": [1024, "512x1024x2048"]}.
    backend: "emulated" for the Wormhole in virtual time, "host" for this machine's CPU in wall
        time, "emulated,host" for both. The default is the first of them that the experiment runs on.
    set: constants of the chip or the software: {"dram.read.noc1": "190GB/s"}. Several values, or a
        range "1..100:1cycles", turn a constant into an axis.
    chip, software: a built-in profile, or the file of one, of what is emulated.
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
    found = json.loads(
        _native.run(
            name,
            axes=_assignments(axes or {}),
            backend=backend or "",
            profiles=_profiles(chip, software),
            settings=_settings(set),
            filter=filter,
            quick=quick,
            seed=seed,
            repetitions=repetitions,
            min_time=min_time,
            threads=threads,
        )
    )
    return Result(found)


def explain(
    what: str = "",
    *,
    axes: Optional[Axes] = None,
    set: Optional[Settings] = None,
    chip: Optional[Path] = None,
    software: Optional[Path] = None,
) -> Result:
    """Returns, as a result, what bounds a point and what would make it faster.

    what: "matmul", "mlp", "gpt2", "ops", an experiment that is timed on the emulator, or the file
        of a recorded program or of a log. The default is a product, whose sizes are the axes m, k
        and n.
    axes: one value for each: {"m": 4096, "k": 4096, "n": 4096}.
    set, chip, software: as for run().

    The first point is the one that was asked about, with its costs as metrics. Each other point is
    a run with one thing changed. Raises Error and KeyboardInterrupt as run() does.
    """
    found = json.loads(
        _native.explain(
            what,
            axes=_assignments(axes or {}),
            profiles=_profiles(chip, software),
            settings=_settings(set),
        )
    )
    return Result(found)


def fit(
    config: Path = "",
    *,
    preset: str = "",
    model: Path = "",
    device: Path = "",
    multihost: Path = "",
    data: Path = "",
    tokenizer: Path = "",
    keys: Optional[Keys] = None,
    engine: str = "dynamic",
    schedule: str = "ttml",
    chunks: int = 1,
    tiers: int = 3,
    search: bool = True,
    set: Optional[Settings] = None,
    chip: Optional[Path] = None,
    software: Optional[Path] = None,
) -> Fit:
    """Returns what a training run of TTML's files would take on the emulated chip, and which other
    settings make the same update faster: what `run_experiment fit` writes as JSON.

    config, preset: a training file, or the name of a preset ("nano_gpt") in its place.
    model, device, multihost, data, tokenizer: files in the place of those that config names.
    keys: keys of these files that are set over them: {"batch_size": 4, "mesh_shape": [1, 8]}.
    engine: "dynamic", "static" or "traced".
    schedule, chunks, tiers: how several devices share the run, as the program's options say.
    search: whether to look for other settings.
    set, chip, software: as for run().

    Raises Error for files that cannot be read and for runs that cannot be planned.
    """
    result: Fit = json.loads(
        _native.fit(
            os.fspath(config),
            preset=preset,
            model=os.fspath(model),
            device=os.fspath(device),
            multihost=os.fspath(multihost),
            data=os.fspath(data),
            tokenizer=os.fspath(tokenizer),
            keys=[
                f"{name}={value if isinstance(value, str) else json.dumps(value)}"
                for name, value in (keys or {}).items()
            ],
            engine=engine,
            schedule=schedule,
            chunks=chunks,
            tiers=tiers,
            search=search,
            profiles=_profiles(chip, software),
            settings=_settings(set),
        )
    )
    return result


def analyze(
    *files: Path,
    compare_emulated: bool = False,
    advice: Optional[bool] = None,
    start: str = "",
    end: str = "",
    all: bool = False,
    join: bool = False,
    zones: Path = "",
    set: Optional[Settings] = None,
    chip: Optional[Path] = None,
    software: Optional[Path] = None,
) -> List[Result]:
    """Returns where the time went in logs: ops_perf_results CSV, profile_log_device.csv or Chrome
    traces.

    compare_emulated: whether the ops of each ops_perf_results CSV stand beside those of the
        emulator, which set, chip and software change as for run().
    advice: whether there is advice; None: for files up to 256 MB.
    start, end, all: the part of a log that is read, by the names of signposts, and whether it has
        its warm-up: --from, --to and --all.
    join: whether the files are those of hosts that ran one program together.
    zones: the profile_log_device CSV of the same run.

    For each log, there is one result of each kind that has points: "log_devices", "log_ops",
    "log_gaps" (idle time by the ops before and after it), "log_sections" and "log_host_ops". For a
    file of results, these results are returned.

    Raises Error for a file that cannot be read, or in which nothing ran.
    """
    found = json.loads(
        _native.analyze(
            [os.fspath(file) for file in files],
            compare_emulated=compare_emulated,
            advice=advice,
            start=start,
            end=end,
            all=all,
            join=join,
            zones=os.fspath(zones),
            profiles=_profiles(chip, software),
            settings=_settings(set),
        )
    )
    return [Result(one) for one in (found if isinstance(found, list) else [found])]
