# SPDX-License-Identifier: Apache-2.0
"""The types of results: plain dicts and lists, as the program's JSON has them.

The schema is reports/formats/result.schema.json. Numbers are in SI base units, ratios with 1 for 100 %.
"""

from __future__ import annotations

from typing import Dict, List, Optional, TypedDict


class _MetricAlways(TypedDict):
    value: float
    unit: str  # "s", "FLOP/s", "1" for ratios, ...
    clock: str  # "virtual" or "wall"
    noise: str  # "exact" or "sampled"
    samples: List[float]  # One per repetition; empty when exact.
    ci95: Optional[List[float]]  # The ends of the 95 % interval of the median.
    better: str  # "lower" or "higher"


class Metric(_MetricAlways, total=False):
    """A number that was measured, or follows from one."""

    picoseconds: int  # The exact value of a virtual time.


class Reference(TypedDict):
    """The published figure beside which a point stands."""

    metric: str
    value: float
    unit: str
    source: str
    status: str  # "calibration", "prediction", "artefact" or "measured"
    note: str


class Point(TypedDict):
    """One point of a sweep, or one row of what a log says."""

    id: str
    params: Dict[str, str]
    backend: str  # "emulated", "host" or "log"
    skipped: Optional[str]  # Why the point has no metrics.
    failed: bool  # Whether it was skipped because of an error.
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
    """What may explain a number."""

    published_chip: bool  # False when the published figures are of another chip or software.


class Result(TypedDict):
    """What a run of one experiment found: schema howard.result/1."""

    schema: str
    experiment: str
    context: Context
    interrupted: bool
    points: List[Point]


class Axis(TypedDict):
    """One dimension of an experiment."""

    name: str
    meaning: str
    values: List[str]  # Those that run when nothing else is said; empty: not set.


class Experiment(TypedDict):
    """What can be run."""

    name: str
    question: str
    axes: Dict[str, List[Axis]]  # By backend: "emulated", "host".
