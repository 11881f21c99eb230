# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.model_factory: models of TTML's files."""

from ..models._transformer import checked_settings
from ..models.llama import Llama, LlamaConfig
from ..models.nanogpt import NanoGPT, NanoGPTConfig


class TransformerModelFactory:
    """Makes the model of a dict with a transformer_config. Its memory_efficient runner computes the
    same numbers as the default one here, and keeps its activations."""

    def __init__(self, yaml_config):
        if "transformer_config" not in yaml_config:
            raise RuntimeError("TransformerModelFactory: a configuration without a "
                               "transformer_config; accepted: what load_config() gives of a model "
                               "file")
        self.transformer_config = yaml_config["transformer_config"]

    def create_model(self):
        found = checked_settings(self.transformer_config)
        vocabulary = found.get("vocab_size", 256)
        forms = {name: found["experimental." + name] for name in (
            "use_composite_rmsnorm", "use_fused_swiglu", "use_fused_attention")}
        if found["model_type"] == "llama":
            scaling = {key.split(".")[1]: value for key, value in found.items()
                       if key.startswith("rope_scaling.")}
            model = Llama(LlamaConfig(
                found["num_heads"], found["num_groups"], found["embedding_dim"],
                found.get("intermediate_dim"), found["dropout"], found["num_blocks"],
                vocabulary, found["max_sequence_length"], found["theta"], found["weight_tying"],
                found["runner_type"], scaling if scaling["scaling_factor"] != 0 else {}, **forms))
        else:
            model = NanoGPT(NanoGPTConfig(
                vocab_size=(vocabulary + 31) // 32 * 32, block_size=found["max_sequence_length"],
                n_embd=found["embedding_dim"], n_layer=found["num_blocks"],
                n_head=found["num_heads"], dropout=found["dropout"],
                weight_tying=found["weight_tying"] == "enabled",
                fixed_positions=found["positional_embedding_type"] == "fixed",
                use_composite_layernorm=found["experimental.use_composite_layernorm"],
                use_fused_attention=forms["use_fused_attention"]))
        if found.get("model_path"):
            model.load_from_safetensors(found["model_path"])
        return model
