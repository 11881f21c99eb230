# SPDX-License-Identifier: Apache-2.0
"""A Llama learns by GRPO to repeat the letter of its prompt. Needs NumPy."""

from ttml.autograd import AutoContext
from ttml.common.data import CharTokenizer
from ttml.common.utils import set_seed
from ttml.models.llama import Llama, LlamaConfig
from ttml.trainers import CachedCompleter, GRPOTrainer, TrainerCallback, get_grpo_config

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
        for letter, text in zip(letters, trainer.completer.generate_str(letters)):
            print(letter, "->", text)


completer = CachedCompleter(model, config.max_completion_length, config.temperature,
                            tokenizer=tokenizer)
trainer = GRPOTrainer(completer, [{"prompt": one} for one in letters], config, share_of_the_letter,
                      {"type": "AdamW", "lr": 0.003}, callbacks=[Last()])
trainer.train()
