# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.modules.parameter."""

from ..init import TensorMetadata
from ._base import LAZY_PARAMETER_ACCESS_MSG, Buffer, Parameter

__all__ = ["Buffer", "LAZY_PARAMETER_ACCESS_MSG", "Parameter", "TensorMetadata"]
