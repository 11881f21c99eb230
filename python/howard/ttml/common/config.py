# SPDX-License-Identifier: Apache-2.0
"""ttml.common.config: YAML files as dicts."""


def load_config(path, configs_root=None):
    """The content of a YAML file. Needs python3-yaml."""
    import os

    import yaml

    with open(os.path.join(configs_root, path) if configs_root else path) as file:
        return yaml.safe_load(file)
