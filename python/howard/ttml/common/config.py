# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.config: YAML files as dicts, and their sections with TTML's defaults."""

import os


def load_config(path, configs_root=None):
    """Returns the content of a YAML file. It needs python3-yaml."""
    try:
        import yaml  # type: ignore[import]  # It is an optional package.
    except ImportError:
        raise ImportError("load_config needs PyYAML: apt-get install python3-yaml") from None

    with open(os.path.join(configs_root, path) if configs_root else path) as file:
        return yaml.safe_load(file)


class DeviceConfig:
    """Has the keys of device_config."""

    def __init__(self, yaml_config):
        given = yaml_config.get("device_config", {})
        self.mesh_shape = given.get("mesh_shape", [1, 1])
        self.device_ids = given.get("device_ids", [])
        self.enable_ddp = given.get("enable_ddp", False)
        self.enable_tp = given.get("enable_tp", False)

    def total_devices(self):
        rows, columns = self.mesh_shape
        return rows * columns


class TrainingConfig:
    """Has the keys of training_config that a loop in Python needs, and seq_len of the model."""

    def __init__(self, yaml_config):
        given = yaml_config.get("training_config", {})
        self.project_name = given.get("project_name", "tt_train_nano_gpt")
        self.seed = given.get("seed", 42)
        self.batch_size = given.get("batch_size", 64)
        self.validation_batch_size = given.get("validation_batch_size",
                                               max(self.batch_size // 2, 1))
        self.num_epochs = given.get("num_epochs", 1)
        self.steps = self.max_steps = given.get("max_steps", 1000)
        self.eval_every = given.get("eval_every", 200)
        self.gradient_accumulation_steps = given.get("gradient_accumulation_steps", 1)
        self.lr = self.learning_rate = given.get("learning_rate", 3e-4)
        self.weight_decay = given.get("weight_decay", 1e-2)
        self.beta1, self.beta2 = given.get("beta1", 0.9), given.get("beta2", 0.999)
        self.eps = given.get("eps", 1e-8)
        self.use_moreh_adamw = given.get("use_moreh_adamw", False)
        self.use_kahan_summation = given.get("use_kahan_summation", False)
        self.use_no_op = given.get("use_no_op", False)
        self.optimizer = given.get("optimizer", {})
        self.use_clip_grad_norm = given.get("use_clip_grad_norm", False)
        self.clip_grad_norm_max_norm = given.get("clip_grad_norm_max_norm", 1.0)
        self.data_path = given.get("data_path", "data/shakespeare.txt")
        model = yaml_config.get("transformer_config", {})
        self.seq_len = model.get("max_sequence_length", 256)
