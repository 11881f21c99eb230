# SPDX-License-Identifier: Apache-2.0
"""The report's Python MLP, with an autograd of its own, as a script for ttnn.

usage: report_mlp.py [BATCH [WIDTH [STEPS]]]; prints the virtual time of a step.
"""

import sys

import ttnn

import howard

BATCH, WIDTH, STEPS = (int(a) for a in (sys.argv[1:] + ["1024", "512", "20"][len(sys.argv) - 1:]))
RATE = 0.01


class Node:
    def __init__(self, tensor, parents=(), needs_gradient=None):
        self.tensor, self.parents = tensor, parents
        self.needs_gradient = (any(p.needs_gradient for p in parents)
                               if needs_gradient is None else needs_gradient)
        self.gradient = self.run_backward = None

    def accumulate(self, gradient):
        self.gradient = gradient if self.gradient is None else ttnn.add(self.gradient, gradient)

    def backward(self):
        ordered, visited = [], set()

        def visit(node):
            if node in visited or not node.needs_gradient:
                return
            visited.add(node)
            for parent in node.parents:
                visit(parent)
            ordered.append(node)

        visit(self)
        self.gradient = ttnn.full_like(self.tensor, 1.0)
        for node in reversed(ordered):
            if node.run_backward is not None:
                node.run_backward(node.gradient)


def matmul(a, b):
    config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi3,
                                              fp32_dest_acc_en=True)
    out = Node(ttnn.matmul(a.tensor, b.tensor, compute_kernel_config=config), (a, b))

    def run_backward(gradient):
        if a.needs_gradient:
            a.accumulate(ttnn.matmul(gradient, b.tensor, transpose_b=True))
        if b.needs_gradient:
            b.accumulate(ttnn.matmul(a.tensor, gradient, transpose_a=True))

    out.run_backward = run_backward
    return out


def relu(x):
    out = Node(ttnn.relu(x.tensor), (x,))
    out.run_backward = lambda gradient: x.accumulate(
        ttnn.multiply(gradient, ttnn.gtz(x.tensor)))
    return out


def mean_squared_error(prediction, target):
    difference = ttnn.subtract(prediction.tensor, target.tensor)
    count = difference.shape[0] * difference.shape[1]
    out = Node(ttnn.multiply(ttnn.sum(ttnn.multiply(difference, difference)), 1.0 / count),
               (prediction, target))
    out.run_backward = lambda _: prediction.accumulate(ttnn.multiply(difference, 2.0 / count))
    return out


def full(shape, value, needs_gradient):
    return Node(ttnn.full(shape, value, layout=ttnn.TILE_LAYOUT, device=device),
                needs_gradient=needs_gradient)


device = ttnn.open_device(device_id=0)
x, target = full((BATCH, WIDTH), 1.0, False), full((BATCH, WIDTH), 0.5, False)
weights = [full((WIDTH, WIDTH), 0.01, True) for _ in range(2)]


def step():
    loss = mean_squared_error(matmul(relu(matmul(x, weights[0])), weights[1]), target)
    loss.backward()
    for node in weights:
        rate = ttnn.full_like(node.gradient, RATE)
        node.tensor = ttnn.subtract(node.tensor, ttnn.multiply(rate, node.gradient))
        node.gradient = None
    return loss.tensor


losses = []
for _ in range(5):
    first = step()
ttnn.synchronize_device(device)
start = howard.now()
for _ in range(STEPS):
    with howard.region("step"):
        last = step()
ttnn.synchronize_device(device)
print(f"{(howard.now() - start) / STEPS * 1e3:.6f} ms a step")
ttnn.close_device(device)
