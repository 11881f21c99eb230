# SPDX-License-Identifier: Apache-2.0
"""What TTML's own training script and tests of 2026 ask for by name: modules, fields, words."""

import importlib
import math

from ttml_case import TtmlCase, numpy, ttml, unittest


class Names(TtmlCase):
    def test_modules_have_the_paths_of_ttmls_files(self):
        for path, name in (("modules.module_base", "AbstractModuleBase"), ("ops.binary", "add"),
                           ("datasets.dataloader", "TTMLDataloader"),
                           ("trainers.grpo_trainer", "GRPOTrainer"),
                           ("models.qwen3", "Qwen3RopeScalingConfig"),
                           *((f"models.{kind}.flops", "calculate_flops_per_token")
                             for kind in ("nanogpt", "llama", "qwen3", "deepseek"))):
            self.assertTrue(hasattr(importlib.import_module(f"ttml.{path}"), name), (path, name))

    def test_operations_of_a_token(self):
        models = ttml.models
        for kind, config in (
                ("nanogpt", models.nanogpt.NanoGPTConfig(vocab_size=64, n_embd=64, n_layer=2, n_head=2)),
                ("llama", models.llama.LlamaConfig(vocab_size=64, hidden_size=64, num_hidden_layers=2,
                                                   num_attention_heads=2, num_key_value_heads=1)),
                ("qwen3", models.qwen3.Qwen3Config(vocab_size=64, hidden_size=64, intermediate_size=96,
                                                   num_hidden_layers=2, num_attention_heads=2,
                                                   num_key_value_heads=1, head_dim=32))):
            flops = importlib.import_module(f"ttml.models.{kind}.flops").calculate_flops_per_token
            self.assertEqual(flops(config, 64) - flops(config, 32), 12 * 2 * 64 * 32, kind)
            if kind == "nanogpt":
                continue  # TTML counts its biases too.
            model = {"llama": models.llama.Llama, "qwen3": models.qwen3.Qwen3}[kind](config)
            weights = sum(t.to_numpy().size for name, t in model.parameters().items()
                          if "norm" not in name and "ln_fc" not in name and "tok_emb" not in name)
            self.assertEqual(flops(config, 32), 6 * weights + 12 * 2 * 64 * 32, kind)
        deepseek = models.deepseek.DeepSeekConfig(
            vocab_size=64, dim=64, inter_dim=96, moe_inter_dim=32, n_layers=2, n_dense_layers=1,
            n_heads=2, q_lora_rank=32, kv_lora_rank=32, n_routed_experts=4)
        flops = models.deepseek.flops.calculate_flops_per_token
        self.assertEqual(flops(deepseek, 64) - flops(deepseek, 32), 12 * 2 * 2 * (96 + 64) // 2 * 32)
        model = models.deepseek.DeepSeek(deepseek)
        self.assertEqual(model.blocks[0].attn.n_heads, 2)
        sizes = {name: t.to_numpy().size for name, t in model.parameters().items()
                 if "norm" not in name and "tok_emb" not in name}
        idle = sum(size for name, size in sizes.items() if "/experts/" in name) // 2  # 2 of 4 are taken.
        self.assertEqual(flops(deepseek, 1), 6 * (sum(sizes.values()) - idle) + 12 * 2 * 160)

    def test_words_that_have_another_form(self):
        self.assertEqual(ttml.Mesh([2, 4], ["dp", "tp"]).num_devices(), 8)
        config = ttml.models.qwen3.Qwen3Config(attention_dropout=0.25)
        self.assertEqual(config.attention_dropout, 0.25)
        attention = ttml.models.nanogpt.multi_head_attention.MultiHeadAttention(64, 2, dropout=0.5)
        self.assertEqual(attention.dropout._probability, 0.5)
        made = ttml.ops.randn([1, 1, 32, 32])
        self.assertGreater(made.to_numpy().std(), 0.5)
        chosen = ttml.argmax(self.made(numpy.eye(32)[None, None]).half(), 3)
        self.assertEqual(chosen.to_numpy(ttml.DataType.UINT32).dtype, numpy.uint32)
        with self.assertRaisesRegex(TypeError, "Unsupported type: BFLOAT8_B"):
            chosen.to_numpy(ttml.DataType.BFLOAT8_B)

    def test_settings_of_rotary_positions_are_those_of_llama(self):
        models = ttml.models
        made = models.qwen3.Qwen3RopeScalingConfig(scaling_factor=8.0)
        self.assertEqual(repr(made), "Qwen3RopeScalingConfig(scaling_factor=8.0, high_freq_factor=4.0, "
                         "low_freq_factor=1.0, original_context_length=0)")
        self.assertEqual(vars(made), vars(models.llama.LlamaRopeScalingConfig(8.0)))

    def test_nodes_of_tensors(self):
        x = self.tensor(1, 1, 32, 32)
        y, z = x * 2.0, x * 3.0
        self.assertEqual(ttml.autograd.get_links(x, y, z), ttml.autograd.get_links([y, z]))
        self.assertEqual(len(ttml.autograd.get_links([x])), 0)

    def test_a_layer_of_lora_says_what_it_is(self):
        lora = ttml.modules.lora
        layer = lora.LoraLinear(ttml.modules.LinearLayer(64, 32), lora.LoraConfig(
            rank=4, alpha=8.0, lora_dropout=0.1))
        self.assertEqual((layer.scaling, layer.dropout_prob, layer.in_features, layer.out_features),
                         (2.0, 0.1, 64, 32))


class Schedules(TtmlCase):
    def optimizer(self):
        layer = ttml.modules.LinearLayer(32, 32)
        return ttml.optimizers.create_optimizer({"type": "SGD", "lr": 1.0}, layer.parameters())

    def test_fields_and_states(self):
        schedulers, optimizer = ttml.schedulers, self.optimizer()
        made = schedulers.LambdaScheduler(optimizer, lambda step: 1 / (1 + step))
        made.step()
        self.assertEqual((made._base_lr, made._last_step, made._last_lr), (1.0, 1, 0.5))
        self.assertIn("m_lr_lambda", made.get_state_dict())
        self.assertEqual(schedulers.StepScheduler(optimizer, 3)._step_size, 3)
        with self.assertRaisesRegex(AttributeError, "StepScheduler has no _length"):
            schedulers.StepScheduler(optimizer, 3)._length

    def test_a_warm_up_and_a_cosine(self):
        schedulers, optimizer = ttml.schedulers, self.optimizer()
        parts = [schedulers.LinearScheduler(optimizer, 0.0, 1.0, 4),
                 schedulers.CosineAnnealingScheduler(optimizer, 8)]
        made = schedulers.SequentialScheduler(optimizer, parts, [4, 8])
        rates = []
        for _ in range(14):
            made.step()
            rates.append(optimizer.get_lr())
        cosine = [(1 + math.cos(math.pi * i / 8)) / 2 for i in range(1, 9)]
        self.assertTrue(numpy.allclose(rates, [0.25, 0.5, 0.75, 1, *cosine, 0, 0]), rates)
        self.assertEqual((made.m_current_scheduler_index, made.m_current_step_in_scheduler), (2, 0))
        self.assertIn("m_current_step_in_scheduler", made.get_state_dict())
        with self.assertRaisesRegex(ValueError, "accepted: schedulers, and the steps of each"):
            schedulers.SequentialScheduler(optimizer, [None], [4])


if __name__ == "__main__":
    unittest.main()
