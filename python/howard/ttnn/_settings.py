# SPDX-License-Identifier: Apache-2.0
"""Implements ttnn.CONFIG: settings that scripts read and write; none changes virtual time."""

import contextlib
import json
import os
import pathlib
import re
import sys
import time
import warnings

# Each setting with its type and its default, in the order in which ttnn shows them.
_FIELDS = {
    "cache_path": (pathlib.Path, pathlib.Path.home() / ".cache" / "ttnn"),
    "model_cache_path": (pathlib.Path, pathlib.Path.home() / ".cache" / "ttnn" / "models"),
    "tmp_dir": (pathlib.Path, pathlib.Path("/tmp/ttnn")),
    "enable_model_cache": (bool, False),
    "enable_fast_runtime_mode": (bool, True),
    "throw_exception_on_fallback": (bool, False),
    "enable_logging": (bool, False),
    "enable_graph_report": (bool, False),
    "enable_detailed_buffer_report": (bool, False),
    "enable_detailed_tensor_report": (bool, False),
    "enable_comparison_mode": (bool, False),
    "comparison_mode_should_raise_exception": (bool, False),
    "comparison_mode_pcc": (float, 0.9999),
    "root_report_path": (pathlib.Path, pathlib.Path("generated/ttnn/reports")),
    "report_name": (pathlib.Path, None),
}


class Config:
    """Holds the settings. A new one is a copy of another: Config(CONFIG)."""

    def __init__(self, other):
        if not isinstance(other, Config):
            raise TypeError("__init__(): incompatible function arguments: Config is made of "
                            f"another Config, not of {other!r}")
        self.__dict__.update(vars(other))

    def __setattr__(self, name, value):
        if name not in _FIELDS:
            raise AttributeError(f"Config has no setting '{name}' that can be set")
        kind = _FIELDS[name][0]
        if kind is pathlib.Path and isinstance(value, (str, os.PathLike)):
            value = pathlib.Path(value)
        elif kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            value = float(value)
        elif not isinstance(value, kind) and not (value is None and name == "report_name"):
            raise TypeError(f"CONFIG.{name}: incompatible function arguments: {value!r} is no "
                            f"{kind.__name__}")
        self.__dict__[name] = value
        if name in ("report_name", "root_report_path"):
            self.__dict__["_report_path"] = self._new_report_path()

    def _new_report_path(self):
        name = self.__dict__.get("report_name")
        if name is None:
            return None
        short = re.sub(r"[^a-z0-9]+", "_", str(name)[:64].lower()).strip("_")
        return self.root_report_path / f"{short}_{time.strftime('%b%d_%H%M').lower()}"

    @property
    def report_path(self):
        """Returns the folder of the report that `report_name` names, with the time at which it was
        named."""
        return self._report_path

    def __repr__(self):
        shown = ",".join(f"{name}={getattr(self, name)}" for name in _FIELDS)
        return f"Config{{{shown},{self.report_path}}}"


def _new_config():
    made = Config.__new__(Config)
    for name, (_, default) in _FIELDS.items():
        setattr(made, name, default)
    return made


CONFIG = _new_config()


def _current():
    """Returns what scripts have as ttnn.CONFIG now: they may put another in its place."""
    return getattr(sys.modules.get("howard.ttnn"), "CONFIG", CONFIG)


def load_config_from_dictionary(config, from_file=False):
    """Sets what the dictionary names. An unknown name raises ValueError, or warns if it is from a
    file."""
    at = _current()
    for key, value in config.items():
        if key not in _FIELDS:
            if not from_file:
                raise ValueError(f"Unknown configuration key: {key}")
            warnings.warn(f"Unknown configuration key: {key}", stacklevel=2)
            continue
        before = getattr(at, key)
        setattr(at, key, value if before is None or value is None else type(before)(value))


def load_config_from_json_file(json_path):
    """Sets what a file names; a file that cannot be read only warns."""
    try:
        with open(json_path, encoding="utf-8") as file:
            load_config_from_dictionary(json.load(file), from_file=True)
    except Exception as failure:  # ttnn goes on without the file, whatever is wrong with it.
        warnings.warn(f"Failed to load ttnn configuration from {json_path}: {failure}",
                      stacklevel=2)


def save_config_to_json_file(json_path):
    """Writes all settings to a file, paths as text."""
    at = _current()
    shown = {name: str(value) if isinstance(value, pathlib.Path) else value
             for name, value in ((name, getattr(at, name)) for name in _FIELDS)}
    with open(json_path, "w", encoding="utf-8") as file:
        json.dump(shown, file, indent=4)


def _path_of_environment():
    text = os.environ.get("TTNN_CONFIG_PATH")
    return pathlib.Path(text) if text else None


CONFIG_PATH = _path_of_environment()
CONFIG_OVERRIDES = os.environ.get("TTNN_CONFIG_OVERRIDES") or None
if CONFIG_PATH is not None:
    if CONFIG_PATH.exists():
        load_config_from_json_file(CONFIG_PATH)
    else:
        CONFIG_PATH.parent.mkdir(parents=True, exist_ok=True)
        save_config_to_json_file(CONFIG_PATH)
if CONFIG_OVERRIDES is not None:
    load_config_from_dictionary(json.loads(CONFIG_OVERRIDES))


@contextlib.contextmanager
def manage_config(name, value):
    """Sets a setting within the block. As in ttnn, it stays where the block raises an error."""
    before = getattr(_current(), name)
    setattr(_current(), name, value)
    yield
    setattr(_current(), name, before)
