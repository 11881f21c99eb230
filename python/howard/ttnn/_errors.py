# SPDX-License-Identifier: Apache-2.0
"""Says what a script hears of a name that the stand-in does not have."""

import difflib
import sys


class MissingName(AttributeError):
    """Reports a name of ttnn that is not there."""


def place_in_script():
    """Returns the file and line outside of this package that asked."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("howard", "importlib")) and name != "ttnn":
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def nearest(name, known):
    found = difflib.get_close_matches(name, list(known), 1, 0.6)
    return found[0] if found else None


def missing(module, name, known):
    """Returns the error for `module.name`, with the line of the script and what comes nearest."""
    full = f"{module}.{name}"
    near = nearest(name, known)
    where = place_in_script()
    text = f"{full} is not in Howard's stand-in for ttnn"
    if where:
        text = f"{where}: {text}"
    if near:
        text += f"; the nearest that is: {module}.{near}"
    return MissingName(text, name=name)
