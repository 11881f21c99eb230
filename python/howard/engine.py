# SPDX-License-Identifier: Apache-2.0
"""A dynamic autograd engine in Python, as the report describes its own.

It makes a node for each tensor and a closure for each backward pass; backward() sorts the nodes
topologically with a set of visited nodes. A step of the MLP makes the same 20 calls in the same
order as the report's. A node that is used twice gets the sum of its gradients.
"""

import howard


class Node:
    """A tensor of a graph."""

    def __init__(self, tensor, parents=(), needs_gradient=None):
        self.tensor = tensor
        self.parents = parents
        self.needs_gradient = (
            any(parent.needs_gradient for parent in parents)
            if needs_gradient is None
            else needs_gradient
        )
        self.gradient = None
        self.run_backward = None  # Passes self.gradient on to the parents.

    def accumulate(self, gradient):
        """Adds to the gradient; the first gradient is taken as it is."""
        self.gradient = gradient if self.gradient is None else howard.add(self.gradient, gradient)

    def backward(self):
        """Computes the gradients of all nodes that this one depends on; its own gradient is 1."""
        ordered = []
        self._append_in_order(ordered, set())
        self.gradient = howard.full_like(self.tensor, 1.0)
        for node in reversed(ordered):
            if node.run_backward is not None:
                node.run_backward(node.gradient)

    def _append_in_order(self, ordered, visited):
        """Appends the nodes that this one depends on, and then this one."""
        if self in visited or not self.needs_gradient:
            return
        visited.add(self)
        for parent in self.parents:
            parent._append_in_order(ordered, visited)
        ordered.append(self)


def constant(tensor):
    return Node(tensor, needs_gradient=False)


def parameter(tensor):
    return Node(tensor, needs_gradient=True)


# A closure holds its function's inputs and never its output. So there are no cycles, and a graph is
# released with its last node. (In the report's C++ engine, cycles kept every step's tensors alive.)


def matmul(a, b, **products):
    """Computes a @ b; `products` says how the forward product is computed."""
    out = Node(howard.matmul(a.tensor, b.tensor, **products), (a, b))

    def run_backward(gradient):
        if a.needs_gradient:
            a.accumulate(howard.matmul(gradient, b.tensor, transpose_b=True))
        if b.needs_gradient:
            b.accumulate(howard.matmul(a.tensor, gradient, transpose_a=True))

    out.run_backward = run_backward
    return out


def relu(x):
    out = Node(howard.relu(x.tensor), (x,))

    def run_backward(gradient):
        x.accumulate(howard.multiply(gradient, howard.gtz(x.tensor)))

    out.run_backward = run_backward
    return out


def mean_squared_error(prediction, target):
    """Returns one number. As in the report, the gradient of the loss itself is taken to be 1."""
    difference = howard.subtract(prediction.tensor, target.tensor)
    count = difference.shape[0] * difference.shape[1]
    total = howard.sum(howard.multiply(difference, difference), "all")
    out = Node(howard.multiply(total, 1.0 / count), (prediction, target))

    def run_backward(_):
        prediction.accumulate(howard.multiply(difference, 2.0 / count))

    out.run_backward = run_backward
    return out


class Sgd:
    """Computes parameter -= rate * gradient, with three calls for each parameter."""

    def __init__(self, parameters, rate):
        self.parameters = parameters
        self.rate = rate

    def update(self):
        for node in self.parameters:
            rate = howard.full_like(node.gradient, self.rate)
            node.tensor = howard.subtract(node.tensor, howard.multiply(rate, node.gradient))
            node.gradient = None


class Mlp:
    """The MLP of the report's Python benchmark, with two weights [in, out] and no biases."""

    # These apply to the forward products; the backward products use ttnn's default.
    PRODUCTS = {"fidelity": "HiFi3", "fp32_accumulation": True}
    RATE = 0.01

    def __init__(self, device, batch, width, dtype="bfloat16", weight=0.01, x=1.0, target=0.5):
        self.x = constant(device.full((batch, width), x, dtype))
        self.target = constant(device.full((batch, width), target, dtype))
        self.weights = [parameter(device.full((width, width), weight, dtype)) for _ in range(2)]
        self.optimizer = Sgd(self.weights, self.RATE)

    def loss(self):
        hidden = relu(matmul(self.x, self.weights[0], **self.PRODUCTS))
        prediction = matmul(hidden, self.weights[1], **self.PRODUCTS)
        return mean_squared_error(prediction, self.target)

    def step(self):
        """Runs a training step and returns its loss as a tensor, without waiting for it."""
        loss = self.loss()
        loss.backward()
        self.optimizer.update()
        return loss.tensor
