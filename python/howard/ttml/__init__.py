# SPDX-License-Identifier: Apache-2.0
"""A stand-in for TTML's Python package on Howard's devices: `import howard.ttml as ttml`.

Tensors, modules, losses and optimizers have TTML's names and make the calls of TTML's late 2025 on
the autograd engine of Howard: AutoContext opens the emulated chip, whose values the host computes,
or with HOWARD_DEVICE=host the host itself. Anything else that TTML has raises AttributeError.
`run_experiment python SCRIPT` lets a script's own `import ttml` find it.
"""

from howard.ttnn import DataType, Layout

from . import autograd, common, core, models, modules, ops, optimizers, schedulers
from .autograd import argmax

__all__ = ["DataType", "Layout", "argmax", "autograd", "common", "core", "models", "modules", "ops",
           "optimizers", "schedulers"]
