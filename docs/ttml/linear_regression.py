# SPDX-License-Identifier: Apache-2.0
"""TTML's first example: y = 2 a - b, learned from 256 samples. Needs NumPy."""

import numpy as np
import ttml
import ttnn

ctx = ttml.autograd.AutoContext.get_instance()
ctx.open_device()
ctx.set_seed(42)

model = ttml.models.linear_regression.create_linear_regression_model(2, 1)
optimizer = ttml.optimizers.SGD(model.parameters(), ttml.optimizers.SGDConfig.make(lr=0.1))

np.random.seed(42)
x_train = np.random.randn(256, 2).astype(np.float32)
y_train = (x_train @ np.array([[2.0], [-1.0]])).astype(np.float32)

model.train()
batch_size, epochs = 32, 10
for epoch in range(epochs):
    order = np.random.permutation(len(x_train))
    losses = []
    for i in range(0, len(order), batch_size):
        batch = order[i:i + batch_size]
        x = ttml.autograd.Tensor.from_numpy(x_train[batch].reshape(batch_size, 1, 1, 2))
        y = ttml.autograd.Tensor.from_numpy(y_train[batch].reshape(batch_size, 1, 1, 1))
        optimizer.zero_grad()
        loss = ttml.ops.loss.mse_loss(model(x), y, ttml.ops.ReduceType.MEAN)
        loss.backward(False)
        losses.append(float(loss.get_value().item()))
        optimizer.step()
        ctx.reset_graph()
    print(f"Epoch {epoch + 1}/{epochs}, Loss: {np.mean(losses):.6f}")

model.eval()
point = ttml.autograd.Tensor.from_numpy(np.array([[1.0, 1.0]], dtype=np.float32).reshape(1, 1, 1, 2))
prediction = model(point).to_numpy(ttnn.DataType.FLOAT32)
print(f"Prediction for [1, 1]: {prediction.flatten()[0]:.4f}")
ctx.close_device()
