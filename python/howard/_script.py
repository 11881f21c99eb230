# SPDX-License-Identifier: Apache-2.0
"""Runs a script for ttnn on the stand-in: what `run_experiment python` starts.

usage: _script.py [OPTIONS] --workload FILE -- SCRIPT [ARGUMENTS]...
       _script.py [OPTIONS] --workload FILE --module MODULE -- [ARGUMENTS]...
"""

import argparse
import importlib.util
import os
import pathlib
import runpy
import signal
import sys
import traceback
import types

# The package around this script replaces its own folder in the search path.
_PACKAGE = str(pathlib.Path(__file__).resolve().parents[1])
sys.path[0] = _PACKAGE

from howard import _ttml_imports  # noqa: E402
from howard.ttnn import _check, _clock, _device_files, _imports  # noqa: E402
from howard.ttnn._session import session  # noqa: E402
from howard.ttnn._types import know_types_of_2026  # noqa: E402


def _options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-values", action="store_true")
    parser.add_argument("--virtual-clock", action="store_true")
    parser.add_argument("--mixed-clock", action="store_true")
    parser.add_argument("--chips", type=int)  # Those of the box.
    parser.add_argument("--module")
    parser.add_argument("--call-times", dest="calls", choices=("ttnn", "report"), default="ttnn")
    parser.add_argument("--kernel-cache", choices=("warm", "cold"), default="warm")
    parser.add_argument("--chip", "--software", "--card", dest="profile", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--workload", required=True)
    parser.add_argument("words", nargs="*")
    return parser.parse_args()


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
            print(f"howard: the script defines tests ({', '.join(tests[:3])}) and calls none: run "
                  "them with run_experiment python -m pytest FILE, or call them at its end",
                  file=sys.stderr)
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


def _say_no_device(script, status):
    """Says that there is nothing to time; the program says what devices took."""
    if status == 0 and not session.chips:
        print(f"run_experiment: {script} opened no device: there is nothing to time",
              file=sys.stderr)


def _run_script(script, arguments):
    """Runs the script as `python3 script arguments` does."""
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(pathlib.Path(script).resolve().parent))
    # The script has a module of its own, so that no name of it takes the place of ours.
    main = types.ModuleType("__main__")
    main.__dict__.update({"__file__": script, "__builtins__": __builtins__})
    sys.modules["__main__"] = main
    with open(script, "rb") as file:
        text = file.read()
    if b"\0" in text:
        sys.exit(f"run_experiment: {script} is no Python script: it has bytes of 0")
    exec(compile(text, script, "exec"), main.__dict__)


def _run_module(module, arguments):
    """Runs the module as `python3 -m module arguments` does, with the working folder in the search
    path."""
    sys.argv = [module, *arguments]
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.util.find_spec(module)
        if found is not None and found.submodule_search_locations is not None:
            # What stands for a package that is not there can be imported, but not run.
            found = importlib.util.find_spec(module + ".__main__")
    except ModuleNotFoundError:
        found = None
    if found is None:
        sys.exit(f"run_experiment: there is no module {module} for {sys.executable}: its package "
                 f"may be python3-{module.split('.')[0]}")
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _frames_of_script(trace):
    """Returns the frames that are not of this package, nor of the NumPy that it calls."""
    kept, is_ours = [], False
    while trace is not None:
        package = trace.tb_frame.f_globals.get("__name__", "").partition(".")[0]
        is_ours = package == "howard" or (is_ours and package == "numpy")
        if not is_ours:
            kept.append(trace)
        trace = trace.tb_next
    return kept, is_ours


def _shorten(failure):
    """Leaves the frames of this package out of the traceback of an error that says what is wrong, or
    that comes from a function of the script. Those of an error of our own making stay."""
    kept, is_ours = _frames_of_script(failure.__traceback__)
    told = isinstance(failure, (RuntimeError, TypeError, ValueError, MemoryError))
    if not kept or (is_ours and not told):
        return
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    failure.__traceback__ = kept[0]
    if failure.__cause__ is not None:
        _shorten(failure.__cause__)


def _run(main, *given):
    """Runs a script or a module by its own function, and returns its exit status."""
    try:
        main(*given)
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
        # Our own frames around the script's are left out, and those behind it of what we refuse.
        trace = failure.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != given[0]:
            trace = trace.tb_next
        # A script that is no Python has no frames of its own.
        is_of_script = isinstance(failure, SyntaxError) and failure.filename == given[0]
        failure.__traceback__ = trace if is_of_script else trace or failure.__traceback__
        _shorten(failure)
        traceback.print_exception(type(failure), failure, failure.__traceback__)
        return 1
    return 0


def _end(workload, status):
    """Saves what the script asked of its chip, and returns the exit status."""
    for what, step in [("standard output", lambda: sys.stdout.closed or sys.stdout.flush()), (workload, lambda: _save(workload))]:
        try:
            step()
        except OSError as failure:
            print(f"run_experiment: cannot write {what}: {failure.strerror}", file=sys.stderr)
            status = status or 1
    return status


def _keep_memory():
    """Makes the allocator keep the memory of tensors that are freed for the next ones: what comes anew
    from the system takes ten times as long to write."""
    import ctypes  # Scripts without values do without.

    allocator = ctypes.CDLL(None)
    if hasattr(allocator, "mallopt"):  # glibc's
        most = 32 << 20  # the largest that it takes for M_MMAP_THRESHOLD, -3
        allocator.mallopt(-3, most)
        allocator.mallopt(-1, 1 << 30)  # M_TRIM_THRESHOLD


def _start():
    options = _options()
    if not options.module and not options.words:
        sys.exit("no script is named")
    if options.module:
        script, arguments, main = options.module, options.words, _run_module
    else:
        (script, *arguments), main = options.words, _run_script
    if options.check:
        sys.exit(_check.main(script))
    session.values = not options.no_values
    if session.values:
        _keep_memory()
    session.profiles, session.settings = options.profile, options.set
    if session.is_2026:
        know_types_of_2026()
    session.calls_as_report = options.calls == "report"
    session.cold_kernels = options.kernel_cache == "cold"
    session.source = pathlib.Path(script).name
    if options.chips:
        session.set_box(options.chips)
    _imports.install()
    _ttml_imports.install()
    _device_files.install()
    signal.signal(signal.SIGINT, session.interrupt)
    sys.unraisablehook = session.dropped
    if options.virtual_clock or options.mixed_clock:
        _clock.install(options.mixed_clock)
    status = _run(main, script, arguments)
    _say_no_device(script, status)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(_end(options.workload, status))


if __name__ == "__main__":
    _start()
