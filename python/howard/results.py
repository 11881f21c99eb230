# SPDX-License-Identifier: Apache-2.0
"""The types of results: the dicts and lists of the program's JSON.

The schema is reports/formats/result.schema.json. Numbers are in SI base units.
A ratio of 1 is 100 %.
"""

from __future__ import annotations

import html
import importlib
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


class EmulatedOn(TypedDict):
    """The chip on which a point was emulated, and its software."""

    chip_profile: str
    software_profile: str


class _PointAlways(TypedDict):
    id: str
    params: Dict[str, str]
    backend: str  # "emulated", "host" or "log"
    skipped: Optional[str]  # why the point has no metrics
    failed: bool  # whether it was skipped because of an error
    metrics: Dict[str, Metric]
    details: Dict[str, str]
    warnings: List[str]
    reference: Optional[Reference]


class Point(_PointAlways, total=False):
    """One point of a sweep, or one row of the analysis of a log."""

    own_chip: EmulatedOn  # absent: that of the context


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


class Result(Dict[str, Any]):
    """The result of one experiment: the dict of the schema howard.result/1, with its parts as attributes. A notebook
    shows it as a table."""

    @property
    def experiment(self) -> str:
        return str(self["experiment"])

    @property
    def points(self) -> List[Point]:
        points: List[Point] = self["points"]
        return points

    @property
    def context(self) -> Context:
        context: Context = self["context"]
        return context

    @property
    def interrupted(self) -> bool:
        return bool(self["interrupted"])

    def rows(self) -> List[Dict[str, Any]]:
        """Returns a row for each point: its axes, metrics and facts, the published figure and how far it is from that.
        A point that was skipped has the reason and no metrics."""
        return [_row_of(point) for point in self.points]

    def to_dataframe(self) -> Any:
        """Returns the rows as a DataFrame of pandas, which must be installed."""
        return importlib.import_module("pandas").DataFrame(self.rows())

    def __repr__(self) -> str:
        count = len(self.points)
        return f"<{self.experiment}: {count} point{'' if count == 1 else 's'}; rows(), to_dataframe() or [\"points\"]>"

    def _repr_html_(self) -> str:
        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows
        )
        title = html.escape(self.experiment)
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row_of(point: Point) -> Dict[str, Any]:
    row: Dict[str, Any] = {"backend": point["backend"], **point["params"]}
    row.update((name, metric["value"]) for name, metric in point["metrics"].items())
    row.update(point["details"])
    reference = point["reference"]
    if reference is not None:
        row["published"] = reference["value"]
        own = point["metrics"].get(reference["metric"])
        if own is not None and reference["unit"] and reference["value"]:
            row["error"] = own["value"] / reference["value"] - 1
    if point["skipped"] is not None:
        row["skipped"] = point["skipped"]
    return row


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


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
