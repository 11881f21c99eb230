# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.model_factory: models of TTML's files."""

from ..models._runner import RunnerType, of_kind
from ..models._transformer import checked_settings
from ..models.gpt2 import GPT2TransformerConfig, create_gpt2_model
from ..models.llama import CppLlamaConfig, LlamaRopeScalingConfig, create_cpp_llama_model
from ..models.nanogpt import NanoGPTExperimentalConfig


def adjust_vocab_size(vocab_size, tp_size=1):
    """Rounds a vocabulary up to tiles of each device."""
    tiles = 32 * tp_size
    return (vocab_size + tiles - 1) // tiles * tiles


def map_runner_type(text):
    return of_kind(RunnerType, text)


class TransformerModelFactory:
    """Makes the model of a dict with a transformer_config, as TTML has it in C++."""

    def __init__(self, yaml_config):
        if "transformer_config" not in yaml_config:
            raise RuntimeError("TransformerModelFactory: a configuration without a "
                               "transformer_config; accepted: what load_config() gives of a model "
                               "file")
        self.transformer_config = yaml_config["transformer_config"]

    def create_model(self):
        found = checked_settings(self.transformer_config)
        if found["model_type"] not in ("gpt2", "llama"):
            raise RuntimeError(f"TransformerModelFactory: model_type {found['model_type']}; accepted: "
                               "gpt2, llama; ttml.models has the others")
        vocabulary = found.get("vocab_size", 256)
        if found["model_type"] == "llama":
            scaling = {key.split(".")[1]: value for key, value in found.items()
                       if key.startswith("rope_scaling.")}
            model = create_cpp_llama_model(CppLlamaConfig(
                num_heads=found["num_heads"], num_groups=found["num_groups"],
                embedding_dim=found["embedding_dim"],
                intermediate_dim=found.get("intermediate_dim"), dropout_prob=found["dropout"],
                theta=found["theta"], num_blocks=found["num_blocks"], vocab_size=vocabulary,
                max_sequence_length=found["max_sequence_length"],
                runner_type=found["runner_type"], weight_tying=found["weight_tying"],
                rope_scaling=LlamaRopeScalingConfig(**scaling)))
        else:
            model = create_gpt2_model(GPT2TransformerConfig(
                num_heads=found["num_heads"], embedding_dim=found["embedding_dim"],
                dropout_prob=found["dropout"], num_blocks=found["num_blocks"],
                vocab_size=adjust_vocab_size(vocabulary),
                max_sequence_length=found["max_sequence_length"],
                positional_embedding_type=found["positional_embedding_type"],
                runner_type=found["runner_type"], weight_tying=found["weight_tying"],
                experimental=NanoGPTExperimentalConfig(
                    found["experimental.use_composite_layernorm"])))
        if found.get("model_path"):
            model.load_from_safetensors(found["model_path"])
        return model
