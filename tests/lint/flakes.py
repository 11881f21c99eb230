# SPDX-License-Identifier: Apache-2.0
"""Fails on what pyflakes finds in the given folders: unknown and unused names.

Usage: flakes.py FOLDER...
"""

import subprocess
import sys

found = subprocess.run([sys.executable, "-m", "pyflakes", *sys.argv[1:]], text=True,
                       capture_output=True)
# What a package's own file imports is what the package offers.
lines = [line for line in (found.stdout + found.stderr).splitlines()
         if not ("__init__.py:" in line and "imported but unused" in line)]
print("\n".join(lines), file=sys.stderr, end="\n" if lines else "")
sys.exit(bool(lines))
