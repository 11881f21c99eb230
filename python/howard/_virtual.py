# SPDX-License-Identifier: Apache-2.0
"""Gives scripts for ttnn their virtual time."""

from __future__ import annotations

import importlib
from typing import Any


def now() -> float:
    """Returns the virtual seconds of the emulated chips that howard.ttnn has opened; 0 before the
    first."""
    return float(importlib.import_module("howard.ttnn._session").now())


def region(name: str) -> Any:
    """Names a part of a script for ttnn: `with howard.region("forward"):`, or before a function.

    Its virtual time stands in the summary of `run_experiment python`.
    """
    return importlib.import_module("howard.ttnn._session").region(name)
