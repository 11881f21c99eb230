# SPDX-License-Identifier: Apache-2.0
"""TTML's trainers: fine-tuning, and GRPO with what the trainer makes of rewards and the completer writes."""

import contextlib
import io
import os
import pickle
import tempfile

from ttml_case import TtmlCase, numpy, ttml, unittest

if numpy is not None:
    import ttml.trainers
    from ttml.datasets import Batch, InMemoryDataloader, sft_collate_fn
    from ttml.trainers import LoraConfig, SFTConfig, SFTTrainer

SIZES = dict(epsilon=0.2, num_iterations=1, gradient_accumulation_steps=1, logging_steps=100,
             checkpointing=False, checkpoint_interval=1, prompts_to_train=2, temperature=1.0,
             max_completion_length=3, num_generations=2, warmup_steps=0,
             per_device_train_batch_size=4)


class Ttml(TtmlCase):
    def test_lora_and_fine_tuning_train_small_matrices(self):
        examples = [{"input_ids": list(range(i, i + 20)),
                     "labels": [-100] * 5 + list(range(i + 6, i + 21))} for i in range(8)]
        loader = InMemoryDataloader(examples, lambda e: sft_collate_fn(e, 32, 0), 2)
        batch = next(iter(loader))
        self.assertEqual(batch.loss_mask.shape(), [2, 1, 32, 1])
        self.assertAlmostEqual(batch.loss_mask.to_numpy().sum(), 64, delta=0.3)
        trainer = SFTTrainer(self.llama(), loader, None,
                             SFTConfig(max_steps=8, save_interval=0, learning_rate=0.02),
                             peft_config=LoraConfig(rank=4, target_modules=["_linear$"]))
        trained = [n for n, t in trainer.model.parameters().items() if t.get_requires_grad()]
        self.assertTrue(trained and all("lora_" in name for name in trained), trained)
        losses = trainer.train()
        self.assertLess(losses[-1], losses[0])

    def test_fine_tuning_divides_batches_and_weights(self):
        examples = [{"input_ids": list(range(i, i + 20)), "labels": list(range(i + 1, i + 21))}
                    for i in range(0, 32, 8)]

        def collated(some):
            made = sft_collate_fn(some, 32, 0)
            mesh, make = ttml.maybe_mesh(), ttml.autograd.Tensor.from_numpy
            if mesh is None or not mesh.has_axis("dp"):
                return made
            return Batch(*(make(t.to_numpy(), layout=t.own().layout,
                                mapper=mesh.axis_mapper("dp", 0)) for t in vars(made).values()))

        loader = InMemoryDataloader(examples, collated, 2)
        llama = ttml.models.llama
        config = llama.LlamaConfig(hidden_size=64, num_hidden_layers=1, num_attention_heads=2,
                                   num_key_value_heads=1, vocab_size=64, max_position_embeddings=32)
        found = []
        for axes in (None, ["_", "dp"], ["_", "fsdp"]):
            if axes is not None:
                self.context.close_device()
                ttml.open_device_mesh(ttml.Mesh([1, 2], axes))
            self.context.set_seed(3)
            divided = axes is not None and "fsdp" in axes
            trainer = SFTTrainer(llama.Llama(config), loader, None, SFTConfig(
                max_steps=3, save_interval=0, learning_rate=0.02, enable_fsdp=divided,
                gradient_checkpointing=divided))
            found.append(trainer.train())
        self.assertEqual(ttml.fsdp.fsdp_axis_of(trainer.model.fc.weight.tensor), 1)
        self.assertEqual(trainer.model.fc.weight.tensor._fsdp_shard_dim, 2)
        self.assertIs(trainer.model._runner, ttml.models.RunnerType.MemoryEfficient)
        for losses in found[1:]:
            self.assertTrue(numpy.allclose(losses, found[0], rtol=0.02), found)
        for changes in ({"max_grad_norm": 1.0, "save_interval": 0}, {"save_interval": 5}):
            with self.assertRaisesRegex(ValueError, "accepted: 0 for both"):
                SFTConfig(enable_fsdp=True, **changes)

    def config(self, **changes):
        return ttml.trainers.GRPOConfig(**{**SIZES, **changes})

    def small_llama(self, **changes):
        llama = ttml.models.llama
        return llama.Llama(llama.LlamaConfig(**{**dict(
            hidden_size=32, num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1,
            vocab_size=16, max_position_embeddings=96), **changes}))

    def trainer(self, writer, rewards, config, dataset=({"prompt": [1, 2, 5]}, {"prompt": [4]}), **named):
        """Trains a completer, or the model of one that keeps keys and values."""
        if not isinstance(writer, ttml.trainers.GRPOCompleter):
            writer = ttml.trainers.CachedCompleter(writer, config.max_completion_length, config.temperature)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            trainer = ttml.trainers.GRPOTrainer(writer, dataset, config, rewards, **named)
            trainer.train()
        trainer.printed = printed.getvalue()
        return trainer

    def table(self, module):
        """Returns a completer whose tokens are as likely as a parameter says, whatever is asked."""
        class Table(ttml.trainers.GRPOCompleter):
            asked, lengths, model = [], [3, 1, 2, 3], module

            def generate_str(self, prompts):
                raise AssertionError("prompts are tokens")

            def generate(self, prompts):
                self.asked.append([list(p) for p in prompts])
                return [[7] * self.lengths[i % 4] for i in range(len(prompts))]

            def compute_nlog_probs(self, prompts, completions):
                mask = numpy.zeros((len(prompts), 1, 32, 1))
                for row, tokens in enumerate(completions):
                    mask[row, 0, 2:2 + len(tokens)] = 1
                return ttml.ops.binary.mul(module.weight.tensor, 1.0), mask

        return Table()

    def module_of(self, values):
        module = ttml.modules.AbstractModuleBase()
        module.weight = ttml.modules.Parameter(self.made(values))
        return module

    def test_rewards_rise(self):
        trainer = self.trainer(
            self.small_llama(), lambda completion_ids, **_: [c.count(3) / 4 for c in completion_ids],
            self.config(prompts_to_train=12, num_generations=8, per_device_train_batch_size=16,
                        max_completion_length=4), optimizer_dict={"lr": 0.02})
        rewards = [entry["reward"] for entry in trainer.log]
        self.assertEqual(len(rewards), 6)
        self.assertLess(rewards[0], 0.3)
        self.assertGreater(rewards[-1], 0.7)

    def test_loss_and_gradient_are_those_of_the_formula(self):
        random = numpy.random.default_rng(3)
        new = random.uniform(0.2, 1.5, (4, 1, 32, 1))
        old = new + random.uniform(-0.6, 0.6, new.shape)
        module = self.module_of(new)
        new, old_tensor = module.weight.tensor.half(), self.made(old)
        new, old = (ttml.autograd.Tensor(t, False).to_numpy().astype(numpy.float64)
                    for t in (new, old_tensor.half()))
        trainer = ttml.trainers.GRPOTrainer(
            self.table(module), [{"prompt": [1]}],
            self.config(gradient_accumulation_steps=2, prompts_to_train=4), len, {"type": "SGD"})
        advantages = numpy.array([0.5, -0.5, 1.25, -1.25])
        completions = trainer.completer.generate([[1]] * 4)
        loss = trainer.loss([[1]] * 4, completions, advantages, old_tensor)
        _, mask = trainer.completer.compute_nlog_probs([[1]] * 4, completions)
        a, ratio = advantages[:, None, None, None], numpy.exp(old - new)
        clipped = numpy.clip(ratio, 0.8, 1.2)
        weights = mask / numpy.array([3, 1, 2, 3])[:, None, None, None] / (4 * 2)
        gains = numpy.minimum(ratio * a, clipped * a) * weights
        self.assertAlmostEqual(loss.get_value().item(), -gains.sum(),
                               delta=0.003 * numpy.abs(gains).sum())
        loss.backward(False)
        found = module.weight.tensor.get_grad_tensor().to_numpy()
        passes = (ratio * a <= clipped * a) | (ratio == clipped)
        slope = weights * a * ratio * passes
        self.assertTrue((passes * mask).sum() < mask.sum(), "some are clipped")
        self.assertLess(numpy.abs(found - slope).max(), 0.02 * numpy.abs(slope).max())
        self.assertTrue((found[slope == 0] == 0).all())

    def test_advantages_are_rewards_less_their_groups_means(self):
        found = ttml.trainers._grpo.advantages_of([1, 0, 0.5, 0.5, 4, 0], 2)
        self.assertEqual(found.tolist(), [0.5, -0.5, 0, 0, 2, -2])

    def test_steps_have_their_prompts_iterations_rates_and_files(self):
        module, told = self.module_of(numpy.full((4, 1, 32, 1), 0.5)), []

        class Listener(ttml.trainers.TrainerCallback):
            def on_train_begin(self, trainer):
                told.append("begin")

            def on_before_optimizer_step(self, trainer):
                told.append(trainer.optimizer.get_lr())

            def on_step_end(self, trainer, step, *args, **kwargs):
                told.append((step, kwargs["reward"]))

            def on_save(self, trainer, step, path):
                told.append(os.path.basename(path))

        def score(prompts, completions, completion_ids, weight):
            self.assertEqual(completions, completion_ids)
            return [w * len(c) for w, c in zip(weight, completions)]

        completer = self.table(module)
        dataset = [{"prompt": [n], "weight": n} for n in (1, 2, 3)]
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.trainer(
                completer, [score, lambda prompts, **_: [1] * len(prompts)],
                self.config(num_iterations=2, prompts_to_train=4, warmup_steps=4, checkpointing=True,
                            checkpoint_interval=3, logging_steps=2, output_dir=folder),
                dataset, callbacks=[Listener()], optimizer_dict={"type": "SGD", "lr": 1},
                model_source="tables")
            with open(os.path.join(folder, "step_3.pkl"), "rb") as file:
                saved = pickle.load(file)
            self.assertEqual((saved["step"], saved["model_source"]), (3, "tables"))
        self.assertEqual(completer.asked, [[[1], [1], [2], [2]], [[3], [3], [1], [1]]])
        first, second = 1 + (3 + 1 + 4 + 6) / 4, 1 + (9 + 3 + 2 + 3) / 4
        rates = [told[i] for i in (1, 3, 5, 8)]
        self.assertTrue(numpy.allclose(rates, [0.25, 0.5, 0.75, 1]), rates)
        self.assertEqual([told[i] for i in (0, 2, 4, 6, 7, 9)],
                         ["begin", (1, first), (2, first), (3, second), "step_3.pkl", (4, second)])
        self.assertEqual(trainer.printed.count("reward"), 2)
        self.assertIn("step 4, loss", trainer.printed)
        # The second update of the same completions knows how likely they were before the first.
        self.assertAlmostEqual(trainer.losses[0], 0, delta=1e-3)
        self.assertAlmostEqual(trainer.losses[1], -0.033, delta=0.005)  # by hand, in real numbers

    def test_completions_follow_padded_prompts_as_whole_passes_do(self):
        for make in (self.small_llama, self.small_qwen3):
            model = make(max_position_embeddings=128)
            for tensor in model.parameters().values():  # so that tokens differ clearly
                tensor.set_value(self.made(4 * tensor.to_numpy()))
            completer = ttml.trainers.CachedCompleter(model, 34, temperature=0)
            prompts = [[1, 2, 3, 4, 5, 6], list(range(12)) * 3, [9]]
            written = completer.generate(prompts)
            self.assertEqual([len(c) for c in written], [34] * 3)
            for prompt, tokens in zip(prompts, written):
                row = numpy.zeros((1, 1, 1, 128))
                row[..., :len(prompt) + 34] = prompt + tokens
                with ttml.common.utils.no_grad():
                    logits = model(self.whole(row)).to_numpy()[0, 0]
                of = logits[len(prompt) - 1:len(prompt) + 33]
                lost = of.max(1) - of[numpy.arange(34), tokens]
                self.assertLess(lost.max(), 0.03 * numpy.abs(of).max())

    def small_qwen3(self, **changes):
        qwen3 = ttml.models.qwen3
        return qwen3.Qwen3(qwen3.Qwen3Config(
            hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=1,
            num_key_value_heads=1, head_dim=32, vocab_size=16, **changes))

    def test_completions_end_and_are_drawn_as_the_temperature_says(self):
        model = self.small_llama()
        completer = ttml.trainers.CachedCompleter(model, 40, temperature=2.0, eos_token_id=3)
        written = completer.generate([[1]] * 16)
        self.assertTrue(all(c.index(3) == len(c) - 1 for c in written if 3 in c))
        self.assertGreater(len({tuple(c) for c in written}), 8)
        everything = ttml.trainers.CachedCompleter(model, 40, temperature=1e4).generate([[1]] * 16)
        counts = numpy.bincount(numpy.concatenate(everything), minlength=16)
        self.assertLess(numpy.abs(counts - 40).max(), 30)  # 5 standard deviations of 640 draws
        bias = numpy.full((1, 1, 16, 32), -1.0)
        bias[:, :, 3] = 1
        model.fc.weight.tensor.set_value(self.made(bias))
        model.tok_emb.weight.tensor.set_value(self.made(numpy.ones((1, 1, 16, 32))))
        self.assertEqual(completer.generate([[1]] * 2), [[3], [3]])
        # The host saw so after 32 tokens: the prompt's tile was read, and all tokens but the last.
        self.assertEqual(completer._cache.get_cache_position(), 32 + 31)

    def test_logarithms_are_those_of_the_model_at_the_temperature(self):
        model = self.small_llama()
        completer = ttml.trainers.CachedCompleter(model, 8, temperature=0.5)
        prompts, completions = [[1, 2], [5]], [[3, 4, 6], [7]]
        losses, mask = completer.compute_nlog_probs(prompts, completions)
        ids = numpy.zeros((2, 1, 1, 32))
        ids[0, ..., :4], ids[1, ..., :1] = [1, 2, 3, 4], [5]
        logits = model(self.whole(ids)).to_numpy().astype(numpy.float64) / 0.5
        logs = logits - numpy.log(numpy.exp(logits).sum(-1, keepdims=True))
        expected = [-logs[0, 0, i, t] for i, t in ((1, 3), (2, 4), (3, 6))] + [-logs[1, 0, 0, 7]]
        self.assertTrue(numpy.allclose(losses.to_numpy()[mask > 0], expected, rtol=0.01))
        self.assertEqual(numpy.argwhere(mask)[:, [0, 2]].tolist(), [[0, 1], [0, 2], [0, 3], [1, 0]])

    def test_devices_that_divide_a_batch_learn_what_one_does(self):
        values = {name: t.to_numpy() for name, t in self.small_llama().parameters().items()}
        rows = ([[1, 2], [1, 2], [5], [5]], [[3, 4, 6], [7, 3], [1], [2, 2]])
        advantages, gradients = numpy.array([1, -1, 0.5, -0.5]), []
        for devices in (1, 2):
            if devices == 2:
                self.context.close_device()
                ttml.open_device_mesh(ttml.Mesh([1, 2], ["_", "dp"]))
            model = self.small_llama()
            for name, tensor in model.parameters().items():
                tensor.set_value(self.made(values[name]))
            config = self.config(per_device_train_batch_size=4 // devices, num_generations=4,
                                 prompts_to_train=1)
            trainer = ttml.trainers.GRPOTrainer(ttml.trainers.CachedCompleter(model, 3), [{"prompt": [1]}],
                                                config, len)
            with ttml.common.utils.no_grad():
                old, _ = trainer.completer.compute_nlog_probs(*rows)
            trainer.loss(*rows, advantages, old).backward(False)
            ttml.core.distributed.synchronize_gradients(model.parameters())
            gradient = model.fc.weight.tensor.get_grad()
            gradients.append(gradient.shards()[0] if devices == 2 else gradient.array())
            self.context.reset_graph()
        self.assertGreater(numpy.abs(gradients[0]).max(), 0)
        self.assertLess(numpy.abs(gradients[0] - gradients[1]).max(),
                        0.02 * numpy.abs(gradients[0]).max())
        # Half of the completions of a prompt are on each device, and they are others.
        written = trainer.completer.generate([[1, 2, 3]] * 4)
        self.assertNotEqual(written[:2], written[2:])

    def test_what_cannot_be_trained_is_said(self):
        trainers, config = ttml.trainers, self.config
        model = self.small_llama()

        class Given(trainers.GRPOCompleter):
            def __init__(self, given):
                self.given, self.model = given, model

            def generate_str(self, prompts):
                raise AssertionError("prompts are tokens")

            def generate(self, prompts):
                return self.given

            def compute_nlog_probs(self, prompts, completions):
                raise AssertionError("there is nothing to ask about")

        for attempt, words in [
            (lambda: config(epsilon=0), "epsilon 0"),
            (lambda: config(num_generations=-1), "num_generations -1"),
            (lambda: config(num_iterations=1.5), "1.5; accepted: a whole number 1 or more"),
            (lambda: config(epsilon=float("inf")), "epsilon inf"),
            (lambda: config(checkpointing="no"), "checkpointing 'no'; accepted: True, False"),
            (lambda: config(max_completion_length="8"), "max_completion_length '8'"),
            (lambda: config(temperature=-1.0), "temperature -1.0; accepted: a number 0 or more"),
            (lambda: config(micro_batch_size=8), "micro_batch_size 8"),
            (lambda: config(num_generations=3).prompts_of_step(1), "a multiple of num_generations"),
            (lambda: config(prompts_to_train=5).prompts_of_step(1), "a multiple of 2"),
            (lambda: self.trainer(model, len, config(), []), "no example"),
            (lambda: self.trainer(model, len, config(), [{"prompt": "text"}]), "the prompt 'text'"),
            (lambda: self.trainer(model, len, config(), [{"prompt": [0.5]}]), "the prompt .0.5."),
            (lambda: self.trainer(model, len, config(), [{"prompt": [1]}, {"text": "a"}]), "example 1"),
            (lambda: self.trainer(model, [], config()), "reward_func "),
            (lambda: trainers.GRPOTrainer(model, [{"prompt": [1]}], config(), len), "a completer of Llama"),
            (lambda: trainers.CachedCompleter(model, 4).generate_str(["a"]), "without a tokenizer"),
            *((lambda given=given: self.trainer(model, lambda **_: given, config()), "4 finite numbers")
              for given in ([1], ["a"] * 4, [[1], [2, 3]], [1e30] * 4)),
            *((lambda given=given: self.trainer(Given(given), len, config()), words)
              for given, words in ((None, "0 completions"), ([[1], [], [1], [1]], "1 of them without"))),
            (lambda: trainers.CachedCompleter(model, 4).generate([[1], []]), "prompt ..; accepted"),
            (lambda: trainers.CachedCompleter(model, 0), "max_completion_length 0"),
            (lambda: self.trainer(model, len, config(max_completion_length=65)), "accepted: 96"),
            (lambda: trainers.CachedCompleter(ttml.modules.LinearLayer(32, 32), 4), "a LinearLayer"),
            (lambda: trainers.get_grpo_config({"grpo_config": {**SIZES, "beta": 1}}), "beta"),
            (lambda: trainers.get_grpo_config({"grpo_config": {"epsilon": 1}}), "num_iterations"),
            (lambda: trainers.get_grpo_config({"grpo_config": None}), "has no grpo_config"),
        ]:
            with self.assertRaisesRegex((ValueError, TypeError), words):
                attempt()
        self.assertEqual(config(num_generations=8).prompts_of_step(2), 1)
        for source in ({"grpo_config": SIZES}, {"training_config": {"grpo_config": SIZES}}):
            self.assertEqual(trainers.get_grpo_config(source), config())


if __name__ == "__main__":
    unittest.main()
