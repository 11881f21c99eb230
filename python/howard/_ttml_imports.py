# SPDX-License-Identifier: Apache-2.0
"""Lets a script's own `import ttml` find the stand-in, in this process alone."""

import importlib
import importlib.abc
import importlib.machinery
import sys


# TTML's files whose names stand elsewhere here.
_ELSEWHERE = {"ttml.modules.module_base": "ttml.modules", "ttml.datasets.dataloader": "ttml.datasets",
              "ttml.datasets.hf_dataloader": "ttml.datasets",
              "ttml.trainers.grpo_trainer": "ttml.trainers",
              "ttml.trainers.sft_trainer": "ttml.trainers"}


class _Loader(importlib.abc.Loader):
    def create_module(self, spec):
        return _module(spec.name)

    def exec_module(self, module):
        """Does nothing: the module is made whole."""


def _module(name):
    return importlib.import_module("howard." + _ELSEWHERE.get(name, name))


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "ttml" and not name.startswith("ttml."):
            return None
        _module(name)
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)


def install():
    sys.meta_path.insert(0, _Finder())
