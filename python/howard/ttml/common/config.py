# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.config: YAML files as dicts."""


def load_config(path, configs_root=None):
    """Returns the content of a YAML file. It needs python3-yaml."""
    import os

    import yaml

    with open(os.path.join(configs_root, path) if configs_root else path) as file:
        return yaml.safe_load(file)
