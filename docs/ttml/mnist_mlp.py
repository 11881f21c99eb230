# SPDX-License-Identifier: Apache-2.0
"""TTML's mnist_mlp on pictures that are made here: ten patterns of 28 x 28 with noise. Needs NumPy."""

import numpy as np
import ttml

ctx = ttml.autograd.AutoContext.get_instance()
ctx.open_device()
ctx.set_seed(1)

random = np.random.default_rng(1)
patterns = random.random((10, 784)) < 0.2


def pictures(count):
    labels = random.integers(0, 10, count)
    noise = random.random((count, 784)) < 0.25
    return (patterns[labels] ^ noise).astype(np.float32) - 0.5, labels.astype(np.uint32)


def batch_of(x, labels):
    return (ttml.autograd.Tensor.from_numpy(x.reshape(len(x), 1, 1, 784)),
            ttml.autograd.Tensor.from_numpy(labels.reshape(len(x), 1)))


model = ttml.models.mlp.create_mlp_model(784, [128, 128], 10)
config = ttml.optimizers.SGDConfig.make(lr=0.1, momentum=0.9)
optimizer = ttml.optimizers.SGD(model.parameters(), config)
train, held_out, batch_size, epochs = pictures(1280), pictures(256), 128, 3

for epoch in range(epochs):
    model.train()
    for i in range(0, len(train[0]), batch_size):
        x, labels = batch_of(train[0][i:i + batch_size], train[1][i:i + batch_size])
        optimizer.zero_grad()
        loss = ttml.ops.loss.cross_entropy_loss(model(x), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    x, _ = batch_of(*held_out)
    found = ttml.argmax(model(x).get_value(), dim=-1).to_numpy().flatten()
    ctx.reset_graph()
    print(f"Epoch {epoch + 1}/{epochs}, Loss: {loss.get_value().item():.4f}, "
          f"accuracy: {np.mean(found == held_out[1]):.3f}")
ctx.close_device()
