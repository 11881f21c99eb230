# SPDX-License-Identifier: Apache-2.0
"""A Llama learns by GRPO to repeat the letter of its prompt. Needs NumPy."""

from ttml.autograd import AutoContext
from ttml.common.data import CharTokenizer
from ttml.common.utils import set_seed
from ttml.models.llama import Llama, LlamaConfig
from ttml.trainers import GRPOTrainer, TrainerCallback, get_grpo_config

AutoContext.get_instance().open_device()
set_seed(1)
letters = "abcd"
tokenizer = CharTokenizer(letters, add_begin_end_tokens=False)
model = Llama(LlamaConfig(num_attention_heads=2, num_key_value_heads=1, hidden_size=64,
                          num_hidden_layers=2, vocab_size=tokenizer.vocab_size,
                          max_position_embeddings=64))
config = get_grpo_config({"grpo_config": {
    "epsilon": 0.2, "per_device_train_batch_size": 32, "num_generations": 8, "num_iterations": 1,
    "gradient_accumulation_steps": 1, "prompts_to_train": 40, "max_completion_length": 8,
    "temperature": 1.0, "warmup_steps": 2, "logging_steps": 2, "checkpointing": False,
    "checkpoint_interval": 10}})


def share_of_the_letter(prompts, completions, **_):
    return [text.count(letter) / config.max_completion_length
            for letter, text in zip(prompts, completions)]


class Last(TrainerCallback):
    def on_train_end(self, trainer):
        written = trainer.completer.generate([tokenizer.encode(letter) for letter in letters])
        for letter, tokens in zip(letters, written):
            print(letter, "->", tokenizer.decode(tokens))


trainer = GRPOTrainer(model, share_of_the_letter, config, [{"prompt": one} for one in letters],
                      tokenizer, callbacks=[Last()], optimizer={"type": "AdamW", "lr": 0.003})
trainer.train()
