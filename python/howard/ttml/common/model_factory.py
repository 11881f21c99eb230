# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.model_factory: models of TTML's files."""

from ..models._runner import RunnerType, of_kind
from ..models._transformer import checked_settings
from ..models.llama import Llama, LlamaConfig, LlamaRopeScalingConfig
from ..models.nanogpt import NanoGPT, NanoGPTConfig, NanoGPTExperimentalConfig


def adjust_vocab_size(vocab_size, tp_size=1):
    """Rounds a vocabulary up to tiles of each device."""
    tiles = 32 * tp_size
    return (vocab_size + tiles - 1) // tiles * tiles


def map_runner_type(text):
    return of_kind(RunnerType, text)


class TransformerModelFactory:
    """Makes the model of a dict with a transformer_config."""

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
            model = Llama(LlamaConfig(
                hidden_size=found["embedding_dim"], intermediate_size=found.get("intermediate_dim"),
                num_hidden_layers=found["num_blocks"], num_attention_heads=found["num_heads"],
                num_key_value_heads=found["num_groups"], vocab_size=vocabulary,
                max_position_embeddings=found["max_sequence_length"], rope_theta=found["theta"],
                mlp_dropout=found["dropout"], runner_type=found["runner_type"],
                weight_tying=found["weight_tying"], rope_scaling=LlamaRopeScalingConfig(**scaling)))
        else:
            model = NanoGPT(NanoGPTConfig(
                vocab_size=adjust_vocab_size(vocabulary), block_size=found["max_sequence_length"],
                n_embd=found["embedding_dim"], n_layer=found["num_blocks"],
                n_head=found["num_heads"], dropout=found["dropout"],
                runner_type=found["runner_type"], weight_tying=found["weight_tying"],
                positional_embedding_type=found["positional_embedding_type"],
                experimental=NanoGPTExperimentalConfig(
                    found["experimental.use_composite_layernorm"])))
        if found.get("model_path"):
            model.load_from_safetensors(found["model_path"])
        return model
