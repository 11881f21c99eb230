# SPDX-License-Identifier: Apache-2.0
"""Lets a script's own `import ttml` find the stand-in, in this process alone."""

import importlib
import importlib.abc
import importlib.machinery
import sys


class _Loader(importlib.abc.Loader):
    def create_module(self, spec):
        return importlib.import_module("howard." + spec.name)

    def exec_module(self, module):
        """Does nothing: the module is made whole."""


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "ttml" and not name.startswith("ttml."):
            return None
        importlib.import_module("howard." + name)
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)


def install():
    sys.meta_path.insert(0, _Finder())
