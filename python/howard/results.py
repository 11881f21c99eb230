# SPDX-License-Identifier: Apache-2.0
"""The types of results: plain dicts and lists, as in the program's JSON.

The schema is reports/formats/result.schema.json. Numbers are in SI base units.
A ratio of 1 is 100 %.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict


class _MetricAlways(TypedDict):
    value: float
    unit: str  # "s", "FLOP/s", "1" for ratios, ...
    clock: str  # "virtual" or "wall"
    noise: str  # "exact" or "sampled"
    samples: List[float]  # one for each repetition; empty when exact
    ci95: Optional[List[float]]  # the ends of the 95 % interval of the median
    better: str  # "lower" or "higher"


class Metric(_MetricAlways, total=False):
    """A number that was measured or computed from a measured one."""

    picoseconds: int  # the exact value of a virtual time


class Reference(TypedDict):
    """The published figure that a point is compared with."""

    metric: str
    value: float
    unit: str
    source: str
    status: str  # "calibration", "prediction", "artefact" or "measured"
    note: str


class Point(TypedDict):
    """One point of a sweep, or one row of the analysis of a log."""

    id: str
    params: Dict[str, str]
    backend: str  # "emulated", "host" or "log"
    skipped: Optional[str]  # why the point has no metrics
    failed: bool  # whether it was skipped because of an error
    metrics: Dict[str, Metric]
    details: Dict[str, str]
    warnings: List[str]
    reference: Optional[Reference]


class _ContextAlways(TypedDict):
    version: str
    git: str
    compiler: str
    build_type: str
    cpu: str
    threads: int
    chip_profile: str
    software_profile: str
    seed: int
    warnings: List[str]


class Context(_ContextAlways, total=False):
    """The circumstances of a run, which may explain a number."""

    published_chip: bool  # false when the published figures are for another chip or software
    constants: Dict[str, str]  # of the chip and the software, each with its unit: {"host.finish": "40 us"}


class Result(TypedDict):
    """The result of one experiment, in the schema howard.result/1."""

    schema: str
    experiment: str
    context: Context
    interrupted: bool
    points: List[Point]


class Fit(TypedDict):
    """What a training run would take, in the schema howard.fit/2: times in picoseconds, sizes in
    bytes."""

    schema: str
    name: str
    chip: str
    notes: List[str]  # what there is to say of the files
    run: Dict[str, Any]  # the run that the files ask for
    others: List[Dict[str, Any]]  # other settings that make the same update, the fastest first


class Axis(TypedDict):
    """One dimension of an experiment."""

    name: str
    meaning: str
    values: List[str]  # those that run by default; empty if not set


class Experiment(TypedDict):
    """An experiment that can be run."""

    name: str
    question: str
    axes: Dict[str, List[Axis]]  # by backend: "emulated", "host"
