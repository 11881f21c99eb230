# SPDX-License-Identifier: Apache-2.0
"""Implements ttnn.CONFIG."""

import contextlib
import json
import os
import pathlib


class Config:
    """Implements ttnn.CONFIG: settings that scripts read and write; none changes virtual time."""

    def __init__(self):
        self.cache_path = pathlib.Path.home() / ".cache" / "ttnn"
        self.model_cache_path = self.cache_path / "models"
        self.tmp_dir = pathlib.Path("/tmp/ttnn")
        self.enable_model_cache = False
        self.enable_fast_runtime_mode = True
        self.throw_exception_on_fallback = False
        self.enable_logging = False
        self.enable_graph_report = False
        self.enable_detailed_buffer_report = False
        self.enable_detailed_tensor_report = False
        self.enable_comparison_mode = False
        self.comparison_mode_should_raise_exception = False
        self.comparison_mode_pcc = 0.9999
        self.root_report_path = pathlib.Path("generated/ttnn/reports")
        self.report_name = None
        self.std_out_ops = False

    @property
    def report_path(self):
        return None if self.report_name is None else self.root_report_path / str(self.report_name)

    def read_overrides(self, text):
        for key, value in json.loads(text).items():
            if not hasattr(self, key):
                raise ValueError(f"TTNN_CONFIG_OVERRIDES: there is no setting {key}")
            setattr(self, key, value)


CONFIG = Config()
if os.environ.get("TTNN_CONFIG_OVERRIDES"):
    CONFIG.read_overrides(os.environ["TTNN_CONFIG_OVERRIDES"])


@contextlib.contextmanager
def manage_config(name, value):
    before = getattr(CONFIG, name)
    setattr(CONFIG, name, value)
    try:
        yield
    finally:
        setattr(CONFIG, name, before)
