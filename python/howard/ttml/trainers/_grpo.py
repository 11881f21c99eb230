# SPDX-License-Identifier: Apache-2.0
"""Implements GRPO: a model learns from the rewards of completions that it draws itself."""

import inspect
from collections.abc import Mapping

import numpy as np

from howard.ttnn._session import region

from .. import core, ops
from .._graph import context
from ..autograd import Tensor
from ..common.utils import get_loss_over_devices, no_grad
from ._completer import GRPOCompleter
from ._devices import BatchDevices
from ._grpo_config import tokens_of
from ._trainer import Trainer

_LEARNING_RATE = 1e-6  # Hugging Face's TRL has it where there is no optimizer.
# Products of a reward and a ratio are finite up to here: their numbers go as far as those of float32.
_MOST_REWARD = float(np.finfo(np.float32).max) ** 0.5


class GRPOTrainer(Trainer):
    """Draws num_generations completions of each prompt, and makes those more likely that earn more
    than their group does on average.

    completer is a GRPOCompleter, whose `model` learns; a `tokenizer` of it encodes prompts and
    decodes completions. reward_func is a function, or several whose rewards are added. It is called with
    those of prompts, completions, completion_ids and the other entries of the examples, as lists, that
    it has parameters for, and returns a reward for each completion. dataset is a list of dicts whose
    `prompt` is a text, if there is a tokenizer, or a list of tokens. Checkpoints name the model_source.
    """

    def __init__(self, completer, dataset, config, reward_func, optimizer_dict=None, callbacks=None,
                 model_source=None):
        if not isinstance(completer, GRPOCompleter):
            raise TypeError(f"GRPOTrainer: a completer of {type(completer).__name__}; accepted: a "
                            "GRPOCompleter, as CachedCompleter(model, max_completion_length) is")
        super().__init__(completer.model, optimizer_dict, _LEARNING_RATE, None, None, callbacks,
                         config.output_dir)
        self.config, self.completer, self.model_source = config, completer, model_source
        self.tokenizer = getattr(completer, "tokenizer", None)
        self.reward_funcs = list(reward_func) if isinstance(reward_func, (list, tuple)) else [reward_func]
        if not self.reward_funcs or not all(callable(one) for one in self.reward_funcs):
            raise ValueError(f"GRPOTrainer: reward_func {reward_func!r}; accepted: a function, or a list of "
                             "one at least")
        self._devices = BatchDevices()
        self.prompts_of_step = config.prompts_of_step(self._devices.count)
        self.dataset = _examples_of(dataset)
        self._most, self.log = self.optimizer.get_lr(), []

    def train(self):
        """Makes num_iterations updates with the completions of each prompts_of_step of
        prompts_to_train prompts. Returns the losses of the updates; `log` has their rewards too."""
        self.model.train()
        self._tell("on_train_begin")
        for first in range(0, self.config.prompts_to_train, self.prompts_of_step):
            count = len(self.dataset)
            examples = [self.dataset[i % count] for i in
                        range(first, first + self.prompts_of_step)]
            batches, told = self._experience(examples)
            for _ in range(self.config.num_iterations):
                self._update(batches, told)
        self._tell("on_train_end")
        return self.losses

    def _told(self):
        return {"model_source": self.model_source}

    def _experience(self, examples):
        """Returns micro batches (prompts, completions, advantages, minus the logarithms of their
        probabilities), and what is told of all of them."""
        config = self.config
        repeated = [example for example in examples for _ in range(config.num_generations)]
        prompts = [self._tokens(example["prompt"]) for example in repeated]
        with region("generation"):
            completions = self._completions(prompts)
        rewards = self._rewards(repeated, completions)
        advantages = advantages_of(rewards, config.num_generations)
        told = {"reward": float(rewards.mean()),
                "completion_length": float(np.mean([len(c) for c in completions]))}
        size = config.per_device_train_batch_size * self._devices.count
        batches = []
        with region("old log-probabilities"), no_grad():
            for start in range(0, len(prompts), size):
                rows = slice(start, start + size)
                old, _ = self.completer.compute_nlog_probs(prompts[rows], completions[rows])
                batches.append((prompts[rows], completions[rows], advantages[rows], old))
        return batches, told

    def _tokens(self, prompt):
        found = prompt
        if isinstance(prompt, str) and self.tokenizer is not None:
            found = self.tokenizer.encode(prompt)
        tokens = tokens_of(found)
        if not tokens:
            raise ValueError(f"GRPOTrainer: the prompt {prompt!r}; accepted: tokens, or a text with a "
                             "completer's tokenizer that encodes it, of one token at least")
        return tokens

    def _completions(self, prompts):
        written = self.completer.generate(prompts)
        found = [tokens_of(one) for one in ([] if written is None else written)]
        if len(found) != len(prompts) or not all(found):
            raise ValueError(f"GRPOTrainer: {len(found)} completions, {found.count([])} of them without "
                             f"tokens, by generate; accepted: {len(prompts)}, one for each prompt, of one token "
                             "at least")
        return found

    def _rewards(self, examples, completions):
        texts = completions
        if self.tokenizer is not None:
            texts = [self.tokenizer.decode(tokens) for tokens in completions]
        given = {name: [example[name] for example in examples] for name in examples[0]}
        prompts = given.pop("prompt")
        total = np.zeros(len(completions))
        for function in self.reward_funcs:
            total += _numbers_of(_asked(function, {
                "prompts": prompts, "completions": texts, "completion_ids": completions, **given}),
                len(completions))
        return total

    def _update(self, batches, told):
        config, total = self.config, 0.0
        with region("update"):
            rate = self._rate(self._most, config.warmup_steps)
            self.optimizer.set_lr(rate)
            self.optimizer.zero_grad()
            losses = []
            for batch in batches:
                losses.append(self.loss(*batch))
                losses[-1].backward(False)
                context().reset_graph()
            core.distributed.synchronize_gradients(self.model.parameters())
            self._tell("on_before_optimizer_step")
            self.optimizer.step()
            total = sum(get_loss_over_devices(loss) for loss in losses)
        self.step += 1
        self.losses.append(total)
        self.log.append({"step": self.step, "loss": total, **told, "learning_rate": rate})
        if self.step % config.logging_steps == 0:
            print(", ".join(f"{name} {value:.6g}" for name, value in self.log[-1].items()))
        self._tell("on_step_end", self.step, total, **told)
        if config.checkpointing and self.step % config.checkpoint_interval == 0:
            self._tell("on_save", self.step, self.save())

    def loss(self, prompts, completions, advantages, old):
        """Returns a micro batch's part of the loss: minus the sum over its completions of the means
        over their tokens of min(ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A), divided by the
        completions of a step on a device."""
        new, mask = self.completer.compute_nlog_probs(prompts, completions)
        if isinstance(mask, Tensor):
            mask = self._devices.array(mask)
        ratio = ops.unary.exp(ops.binary.sub(old, new))
        own = self._devices.real(np.reshape(advantages, (-1, 1, 1, 1)))
        epsilon = self.config.epsilon
        gain = ops.binary.min(ops.binary.mul(ratio, own),
                              ops.binary.mul(ops.unary.clip(ratio, 1 - epsilon, 1 + epsilon), own))
        weights = self._devices.real(mask / mask.sum(2, keepdims=True))
        # The mean is over rows and places of a device; a step's completions are the rows of all
        # micro batches.
        scale = -mask.shape[2] / self.config.gradient_accumulation_steps
        return ops.binary.mul(ops.unary.mean(ops.binary.mul(gain, weights)), scale)


def _asked(function, told):
    """Calls a function with what it has parameters for; one that names none gets the completions."""
    try:
        asked = inspect.signature(function).parameters
    except ValueError:
        return function(told["completions"])
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in asked.values()):
        return function(**told)
    named = {name: told[name] for name in asked if name in told}
    return function(**named) if named else function(told["completions"])


def _examples_of(dataset):
    """Returns the examples of a dataset. Raises ValueError where one has not the names of the first."""
    found = [] if dataset is None else list(dataset)
    if not found:
        raise ValueError("GRPOTrainer: no example; accepted: a dataset of dicts with a prompt")
    for place, example in enumerate(found):
        if not isinstance(example, Mapping) or "prompt" not in example or set(example) != set(found[0]):
            raise ValueError(f"GRPOTrainer: example {place} of dataset is {example!r}; accepted: a dict "
                             "with a prompt, whose names are those of the first example")
    return found


def _numbers_of(rewards, count):
    """Returns what a reward function gave as an array of so many numbers. Raises ValueError where it is
    none."""
    try:
        found = np.asarray(rewards, np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.asarray(np.nan)
    if found.shape != (count,) or not (np.abs(found) <= _MOST_REWARD).all():
        raise ValueError(f"GRPOTrainer: rewards {rewards!r}; accepted: {count} finite numbers, one for each "
                         f"completion, up to {_MOST_REWARD:.2g}")
    return found


def advantages_of(rewards, num_generations):
    """Returns rewards less the means of their groups, which follow each other."""
    groups = np.asarray(rewards, np.float64).reshape(-1, num_generations)
    return (groups - groups.mean(1, keepdims=True)).reshape(-1)
