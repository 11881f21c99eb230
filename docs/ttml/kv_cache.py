# SPDX-License-Identifier: Apache-2.0
"""A Llama writes text with a cache of keys and values: prefill, then decode. Needs NumPy."""

import howard
import numpy as np
import ttnn
from ttml.autograd import AutoContext, Tensor
from ttml.common.config import TrainingConfig
from ttml.common.data import CharTokenizer
from ttml.common.trainer import train
from ttml.common.utils import create_optimizer, no_grad, round_up_to_tile, set_seed
from ttml.models import KvCache, KvCacheConfig
from ttml.models.llama import Llama, LlamaConfig

context = AutoContext.get_instance()
set_seed(42)
text = "a rose is a rose is a rose. " * 40
tokenizer = CharTokenizer(text)
ids = np.array(tokenizer.encode(text), dtype=np.uint32)

model = Llama(LlamaConfig(num_attention_heads=2, num_key_value_heads=1, hidden_size=64,
                          num_hidden_layers=2, vocab_size=tokenizer.vocab_size,
                          max_position_embeddings=128))
config = {"training_config": {"batch_size": 4, "max_steps": 40, "eval_every": 100,
                              "learning_rate": 3e-3},
          "transformer_config": {"max_sequence_length": 64}}
optimizer = create_optimizer(model, config)
losses, _ = train(TrainingConfig(config), model, optimizer, ids, ids)
print(f"Loss: {losses[0]:.3f} -> {losses[-1]:.3f}")
model.eval()


def most_likely(logits, row):
    return int(np.argmax(logits.to_numpy()[0, 0, row]))


def read(tokens, cache=None):
    """Returns the most likely token behind `tokens`, which follow what the cache has."""
    padded = np.zeros((1, 1, 1, round_up_to_tile(len(tokens))), dtype=np.uint32)
    padded[..., :len(tokens)] = tokens
    tensor = Tensor.from_numpy(padded, layout=ttnn.Layout.ROW_MAJOR)
    logits = model(tensor, kv_cache=cache, new_tokens=len(tokens)) if cache else model(tensor)
    token = most_likely(logits, len(tokens) - 1)
    context.reset_graph()
    return token


def timed(function):
    """Returns what the function returns and the virtual time that it takes in milliseconds."""
    ttnn.synchronize_device(context.get_device())
    start = howard.now()
    result = function()
    return result, 1e3 * (howard.now() - start)


prompt, count = tokenizer.encode("a rose is a rose is a rose. a rose is"), 40
with no_grad():
    cache = KvCache(KvCacheConfig(num_layers=2, batch_size=1, num_groups=1, max_seq_len=128,
                                  head_dim=32))
    token, prefill = timed(lambda: read(prompt, cache))
    written, times = [token], []
    while len(written) < count:
        token, time = timed(lambda: read([written[-1]], cache))
        written.append(token)
        times.append(time)
    whole, uncached = timed(lambda: read(prompt + written[:-1]))

print("Text:", tokenizer.decode(prompt) + tokenizer.decode(written))
print(f"{cache.get_cache_position()} tokens read: prefill {prefill:.2f} ms, decode "
      f"{np.median(times):.2f} ms a token, all of them at once {uncached:.2f} ms")
print("Without the cache the last token is", "the same" if whole == written[-1] else "another")
