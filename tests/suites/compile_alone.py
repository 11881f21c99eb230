#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles sources alone, as the preset `dev` does: builds that compile several as one hide a missing #include.

compile_alone.py [BASE]   the sources, and the headers without a source of their own, that changed since the commit
                          BASE, then those that include a header that did. Without a BASE it is where the branch left
                          origin/main or main, or the commit before the last one.
compile_alone.py --all    all of them, before a release: some 40 minutes of one core (2.3 s a file)

Only the front end of the compiler runs. After --seconds (120; no limit for --all) no further file is begun, and the last
line says how many were left out. Status 1: a file does not compile.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "alone"
HEADERS = BUILD / "tests" / "lint" / "howard_header_tests"  # a source for each header that has none of its own


def git(*words):
    """Returns the lines that git prints; none if it fails."""
    done = subprocess.run(["git", "-c", "safe.directory=*", "-c", "core.quotePath=off", *words], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def base_of(asked):
    """Returns the commit that changes are counted from; None if git knows none, as in a clone of one commit."""
    head = git("rev-parse", "HEAD")
    for branch in ([asked] if asked else ["origin/main", "main"]):
        base = git("merge-base", "HEAD", branch)
        if base and base != head:
            return base[0]
    if asked and not git("rev-parse", "--verify", asked + "^{commit}"):
        sys.exit(f"compile_alone.py: git knows no commit {asked}; accepted: a commit that HEAD comes from")
    return (git("rev-parse", "--verify", "HEAD~1") or [None])[0]


def changed_files(base):
    """Returns what changed since `base`, and is not yet committed. Of a lone commit: nothing but the latter."""
    listed = git("diff", "--name-only", "--diff-filter=d", base or "HEAD") + git("ls-files", "-o", "--exclude-standard")
    return dict.fromkeys(listed)


def commands():
    """Returns the command of each source, and of each header without one, from a configured build without unity."""
    done = subprocess.run(["cmake", "-S", str(ROOT), "--preset", "dev", "-B", str(BUILD)], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compile_alone.py: cmake failed\n{done.stdout}{done.stderr}")
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(HEADERS):
            name = str(path.relative_to(HEADERS).with_suffix(""))
        elif path.is_relative_to(ROOT) and not path.is_relative_to(BUILD):
            name = str(path.relative_to(ROOT))
        else:
            continue
        words = shlex.split(entry["command"])
        place = words.index("-o")
        del words[place:place + 2]
        words.remove("-c")
        found.setdefault(name, ([*words, "-w", "-fsyntax-only"], entry["directory"]))
    return found


def wanted_files(options, known):
    if options.all:
        return list(known)
    changed = changed_files(base_of(options.base))
    sources = [name for name in changed if name in known]
    headers = [re.escape(f'#include "{name}"') for name in changed if name.endswith(".h")]
    if headers:
        pattern = re.compile("|".join(headers))
        sources += [name for name in known if name not in changed and pattern.search((ROOT / name).read_text())]
    return sources


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", metavar="BASE")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    limit = options.seconds or (float("inf") if options.all else 120)
    known = commands()
    names = wanted_files(options, known)
    begin = time.monotonic()

    def compile_one(name):
        if time.monotonic() - begin > limit:
            return None
        words, folder = known[name]
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)

    failed, left = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, done in zip(names, pool.map(compile_one, names)):
            if done is None:
                left += 1
            elif done.returncode != 0:
                failed.append(name)
                print(f"{name} does not compile alone:\n{done.stderr}", file=sys.stderr)
    print(f"{len(names) - left} files compiled alone, {len(failed)} failed"
          + (f"; {left} left out after {limit:g} s: compile_alone.py --all" if left else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
