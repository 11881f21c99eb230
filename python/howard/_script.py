# SPDX-License-Identifier: Apache-2.0
"""Runs a script for ttnn on the stand-in: what `run_experiment python` starts.

usage: _script.py [OPTIONS] --workload FILE -- SCRIPT [ARGUMENTS]...
"""

import argparse
import os
import pathlib
import signal
import sys
import time
import traceback
import types

# The package around this script replaces its own folder in the search path.
_PACKAGE = str(pathlib.Path(__file__).resolve().parents[1])
sys.path[0] = _PACKAGE

from howard import _ttml_imports  # noqa: E402
from howard.ttnn import _check, _imports  # noqa: E402
from howard.ttnn._session import now, session  # noqa: E402


def _options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-values", action="store_true")
    parser.add_argument("--virtual-clock", action="store_true")
    parser.add_argument("--call-times", dest="calls", choices=("ttnn", "report"), default="ttnn")
    parser.add_argument("--kernel-cache", choices=("warm", "cold"), default="warm")
    parser.add_argument("--chip", dest="profile", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--workload", required=True)
    parser.add_argument("script", nargs="+")
    return parser.parse_args()


def _set_clock():
    time.time = time.perf_counter = time.monotonic = now
    time.time_ns = time.perf_counter_ns = time.monotonic_ns = lambda: session.now_ps() // 1000


def _save(path):
    """Saves what the script asked of its chip, whole or not at all."""
    if os.getpid() != session.process:
        return
    session.finish()
    text = session.workload_json()
    if text is None:
        names = vars(sys.modules["__main__"])
        tests = [name for name in names if name.startswith("test") and callable(names[name])]
        if tests:
            print(f"howard: the script defines tests ({', '.join(tests[:3])}) and calls none: call "
                  "them at its end, with a device for what their fixtures give", file=sys.stderr)
        return
    path = pathlib.Path(path)
    unfinished = path.with_name(path.name + f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text)
        os.replace(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    others = len(session.chips) - 1
    if others > 0:
        print(f"howard: the script opened devices in {others + 1} ways; the summary is of the one "
              "that did most", file=sys.stderr)


def _say_times(script, status):
    """Says what devices of ttml took; the program says it for those of ttnn."""
    context = sys.modules.get("howard.ttml.autograd")
    lines = context.summary() if context else []
    for line in lines:
        print(f"{session.source}: {line}", file=sys.stderr)
    if status == 0 and not lines and not session.chips:
        print(f"run_experiment: {script} opened no device: there is nothing to time",
              file=sys.stderr)


def _run(script, arguments):
    """Runs the script as `python3 script arguments` does, and returns its exit status."""
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(pathlib.Path(script).resolve().parent))
    # The script has a module of its own, so that no name of it takes the place of ours.
    main = types.ModuleType("__main__")
    main.__dict__.update({"__file__": script, "__builtins__": __builtins__})
    sys.modules["__main__"] = main
    try:
        with open(script, "rb") as file:
            text = file.read()
        if b"\0" in text:
            print(f"run_experiment: {script} is no Python script: it has bytes of 0",
                  file=sys.stderr)
            return 1
        code = compile(text, script, "exec")
        exec(code, main.__dict__)
    except SystemExit as ending:
        if ending.code is None:
            return 0
        if isinstance(ending.code, int):
            return ending.code & 0xFF
        print(ending.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nhoward: interrupted", file=sys.stderr)
        return 130
    except BaseException as failure:
        # Our own frames around the script's are left out.
        trace = failure.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != script:
            trace = trace.tb_next
        failure.__traceback__ = trace or failure.__traceback__
        traceback.print_exception(type(failure), failure, failure.__traceback__)
        return 1
    return 0


def _end(workload, status):
    """Saves what the script asked of its chip, and returns the exit status."""
    for what, step in [("standard output", sys.stdout.flush), (workload, lambda: _save(workload))]:
        try:
            step()
        except OSError as failure:
            print(f"run_experiment: cannot write {what}: {failure.strerror}", file=sys.stderr)
            status = status or 1
    return status


def _start():
    options = _options()
    script, *arguments = options.script
    if options.check:
        sys.exit(_check.main(script))
    session.values = not options.no_values
    session.profiles, session.settings = options.profile, options.set
    session.calls_as_report = options.calls == "report"
    session.cold_kernels = options.kernel_cache == "cold"
    session.source = pathlib.Path(script).name
    _imports.install()
    _ttml_imports.install()
    signal.signal(signal.SIGINT, session.interrupt)
    if options.virtual_clock:
        _set_clock()
    status = _run(script, arguments)
    _say_times(script, status)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(_end(options.workload, status))


if __name__ == "__main__":
    _start()
