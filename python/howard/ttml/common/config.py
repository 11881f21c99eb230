# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.config: YAML files as dicts, and their sections with TTML's defaults."""

import os


def get_tt_metal_runtime_root():
    """Returns the folder that has tt-train, of TT_METAL_RUNTIME_ROOT."""
    root = os.environ.get("TT_METAL_RUNTIME_ROOT")
    if not root:
        raise RuntimeError("TT_METAL_RUNTIME_ROOT is not set, and a relative path that is not here lies "
                           "below it; accepted: the folder that has tt-train")
    return root


def _path_of(path, configs_root):
    path = os.path.expandvars(str(path))
    if "TT_METAL_RUNTIME_ROOT" in path:
        get_tt_metal_runtime_root()
    if os.path.isabs(path) or os.path.exists(path):
        return path
    if configs_root is not None:
        return os.path.join(configs_root, path)
    return os.path.join(get_tt_metal_runtime_root(), "tt-train", "configs", path)


def load_config(path, configs_root=None):
    """Returns the content of a YAML file, in which variables of the environment are replaced. It
    needs python3-yaml."""
    try:
        import yaml  # type: ignore[import]  # It is an optional package.
    except ImportError:
        raise ImportError("load_config needs PyYAML: apt-get install python3-yaml") from None

    with open(_path_of(path, configs_root)) as file:
        text = os.path.expandvars(file.read())
    if "${TT_METAL_RUNTIME_ROOT}" in text:
        get_tt_metal_runtime_root()
    return yaml.safe_load(text)


def yaml_deep_update(target, updates):
    """Puts values over those of another dict, within its dicts too."""
    for key, value in updates.items():
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            yaml_deep_update(target[key], value)
        else:
            target[key] = value
    return target


def _read(source, configs_root=None):
    return load_config(source, configs_root) if isinstance(source, (str, os.PathLike)) else source


class DeviceConfig:
    """Has the keys of device_config."""

    def __init__(self, yaml_config):
        given = yaml_config.get("device_config", {})
        self.mesh_shape = given.get("mesh_shape", [1, 1])
        self.device_ids = given.get("device_ids", [])
        self.enable_ddp = given.get("enable_ddp", False)
        self.enable_tp = given.get("enable_tp", False)
        self.enable_fsdp = given.get("enable_fsdp", False)

    def total_devices(self):
        count = 1
        for side in self.mesh_shape:
            count *= side
        return count


class TrainingConfig:
    """Has the keys of training_config, and seq_len of the model."""

    def __init__(self, yaml_config):
        given = yaml_config.get("training_config", {})
        self.project_name = given.get("project_name", "tt_train_nano_gpt")
        self.seed = given.get("seed", 42)
        self.batch_size = given.get("batch_size", 64)
        self.validation_batch_size = given.get("validation_batch_size",
                                               max(self.batch_size // 2, 1))
        self.epochs = self.num_epochs = given.get("num_epochs", 1)
        self.steps = self.max_steps = given.get("max_steps", 1000)
        self.eval_every = given.get("eval_every", 200)
        self.save_every = self.model_save_interval = given.get("model_save_interval", 0)
        self.gradient_accumulation_steps = given.get("gradient_accumulation_steps", 1)
        self.lr = self.learning_rate = float(given.get("learning_rate", 3e-4))
        self.weight_decay = given.get("weight_decay", 1e-2)
        self.beta1, self.beta2 = given.get("beta1", 0.9), given.get("beta2", 0.999)
        self.eps = given.get("eps", 1e-8)
        self.use_moreh_adamw = given.get("use_moreh_adamw", False)
        self.use_kahan_summation = given.get("use_kahan_summation", False)
        self.use_no_op = given.get("use_no_op", False)
        self.optimizer = given.get("optimizer", {})
        self.model_config = given.get("model_config")
        self.scheduler_type = given.get("scheduler_type", "identity")
        self.tokenizer_type = given.get("tokenizer_type", "bpe")
        self.tokenizer_path = given.get("tokenizer_path")
        self.checkpoint_dir = given.get("checkpoint_dir", "checkpoints")
        self.use_clip_grad_norm = given.get("use_clip_grad_norm", False)
        self.clip_grad_norm_max_norm = given.get("clip_grad_norm_max_norm", 1.0)
        self.data_path = given.get("data_path", "data/shakespeare.txt")
        model = yaml_config.get("transformer_config", {})
        self.seq_len = model.get("max_sequence_length", 256)
        transformer = model.get("transformer_config")
        if transformer is not None:
            self.seq_len = transformer.get("max_sequence_length", 256)


class TransformerConfig:
    """Has the keys of transformer_config with the defaults of TTML's factory."""

    _DEFAULTS = {"model_type": "gpt2", "vocab_size": 96, "embedding_dim": 384, "num_blocks": 6,
                 "num_heads": 6, "dropout_prob": 0.2, "max_sequence_length": 128,
                 "runner_type": "default", "weight_tying": None, "positional_embedding_type":
                 "trainable", "num_groups": 3, "theta": 500000.0, "intermediate_dim": None,
                 "rope_scaling": None}

    def __init__(self, yaml_config):
        given = yaml_config.get("transformer_config", {})
        for name, default in self._DEFAULTS.items():
            setattr(self, name, given.get(name, default))


class PipelineParallelHostConfig:
    def __init__(self, given):
        self.num_blocks = given.get("num_blocks", 0)
        self.blocks_per_rank = {int(k): v for k, v in given.get("blocks_per_rank", {}).items()}


class MultiHostConfig:
    def __init__(self, yaml_config):
        given = yaml_config.get("multihost_config", {})
        self.enabled, self.num_workers = given.get("enabled", False), given.get("num_workers", 1)
        self.socket_type = given.get("socket_type", "mpi")
        pipeline = given.get("pipeline_parallel_config")
        self.pipeline_parallel_config = PipelineParallelHostConfig(pipeline) if pipeline else None


class SchedulerConfig:
    def __init__(self, yaml_config):
        given = yaml_config.get("scheduler_config", {})
        self.max_lr, self.min_lr = float(given.get("max_lr", 1e-3)), float(given.get("min_lr", 0.0))
        self.warmup_steps, self.hold_steps = given.get("warmup_steps", 100), given.get("hold_steps", 0)
        self.beta1_start = given.get("beta1_start", 0.85)
        self.beta1_end = given.get("beta1_end", 0.95)
        self.beta1_warmup_steps = given.get("beta1_warmup_steps", 0)
        self.total_steps = yaml_config.get("training_config", {}).get("total_steps", 1000)


def get_training_config(source, configs_root=None):
    return TrainingConfig(_read(source, configs_root))


def get_device_config(source, configs_root=None):
    return DeviceConfig(_read(source, configs_root))


def get_model_config(source, configs_root=None):
    return TransformerConfig(_read(source, configs_root))


def get_multihost_config(source, configs_root=None):
    return MultiHostConfig(_read(source, configs_root))
