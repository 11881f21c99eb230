# SPDX-License-Identifier: Apache-2.0
"""TTML's nano_gpt example, smaller: a model of characters on data/sonnets.txt. Needs NumPy."""

import numpy as np
import ttml
import ttnn
from ttml.common.data import CharTokenizer
from ttml.models.nanogpt import NanoGPTConfig, create_nanogpt

ctx = ttml.autograd.AutoContext.get_instance()
ctx.open_device()
ctx.set_seed(42)
np.random.seed(42)

with open("data/sonnets.txt") as file:
    text = file.read()
tokenizer = CharTokenizer(text)
tokens = np.array(tokenizer.encode(text), dtype=np.uint32)
sequence_length, batch_size, accumulation, max_steps = 32, 4, 2, 100

config = NanoGPTConfig(vocab_size=(tokenizer.vocab_size + 31) // 32 * 32,
                       block_size=sequence_length, n_embd=64, n_layer=2, n_head=2, dropout=0.1)
model = create_nanogpt(config)
adamw_config = ttml.optimizers.AdamWConfig.make(lr=3e-3, beta1=0.9, beta2=0.999, epsilon=1e-8,
                                                weight_decay=0.01)
optimizer = ttml.optimizers.AdamW(model.parameters(), adamw_config)
mask = np.tril(np.ones((1, 1, sequence_length, sequence_length), dtype=np.float32))
causal_mask = ttml.autograd.Tensor.from_numpy(mask, layout=ttnn.Layout.TILE,
                                              new_type=ttnn.DataType.BFLOAT16)


def as_tokens(array):
    return ttml.autograd.Tensor.from_numpy(array, layout=ttnn.Layout.ROW_MAJOR,
                                           new_type=ttnn.DataType.UINT32)


model.train()
for step in range(max_steps):
    starts = np.random.randint(0, len(tokens) - sequence_length, batch_size)
    windows = np.stack([tokens[s:s + sequence_length + 1] for s in starts])
    inputs = as_tokens(windows[:, :-1].reshape(batch_size, 1, 1, sequence_length))
    targets = as_tokens(windows[:, 1:])
    if step % accumulation == 0:
        optimizer.zero_grad()
    logits = model(inputs, causal_mask)
    loss = ttml.ops.loss.cross_entropy_loss(logits, targets, reduce=ttml.ops.ReduceType.MEAN)
    loss = ttml.ops.binary.mul(loss, 1.0 / accumulation)
    value = float(loss.get_value().item())
    loss.backward(False)
    ctx.reset_graph()
    if (step + 1) % accumulation == 0:
        optimizer.step()
    if (step + 1) % 25 == 0:
        print(f"Step {step + 1}, Loss: {value * accumulation:.4f}")

model.eval()
running = ([0] * sequence_length + tokenizer.encode("Shall I "))[-sequence_length:]
generated = []
for _ in range(20):
    logits = model(as_tokens(np.array(running, dtype=np.uint32).reshape(1, 1, 1, -1)), causal_mask)
    token = int(ttnn.argmax(logits.get_value(), dim=-1).item()) % tokenizer.vocab_size
    generated.append(token)
    running = running[1:] + [token]
    ctx.reset_graph()
print("Generated text:", tokenizer.decode(generated))
ctx.close_device()
