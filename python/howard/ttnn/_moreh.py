# SPDX-License-Identifier: Apache-2.0
"""Implements the moreh ops: reductions, products and optimizers of their own kernels."""

from howard import _native

from ._backward import V
from ._launch import make_output, operation, program, require_device, values
from ._matmul import linear, matmul
from ._reduce import _softmax, mean, sum as sum_

arrays = _native._ttnn.arrays


def _both(name):
    """Registers as ttnn.moreh_NAME and ttnn.operations.moreh.NAME."""

    def register(function):
        operation("moreh." + name)(function)
        return operation("moreh_" + name)(function)

    return register


def _reduction(name, original):
    @_both(name)
    def call(input, dim=None, *, keepdim=False, output=None, memory_config=None,
             compute_kernel_config=None, divisor=None):
        """Reduces along one dimension after the other, accumulated in float32."""
        return original.function(input, dim, keepdim, memory_config=memory_config,
                                 output_tensor=output)

    return call


_reduction("sum", sum_)
_reduction("mean", mean)


@_both("matmul")
def moreh_matmul(input, other, *, transpose_input=False, transpose_other=False, output=None,
                 bias=None, memory_config=None, compute_kernel_config=None):
    return linear.function(input, other, bias=bias, transpose_a=transpose_input,
                           transpose_b=transpose_other, memory_config=memory_config,
                           optional_output_tensor=output)


@_both("linear")
def moreh_linear(input, weight, *, bias=None, output=None, memory_config=None,
                 compute_kernel_config=None):
    return linear.function(input, weight, bias=bias, transpose_b=True, memory_config=memory_config,
                           optional_output_tensor=output)


@_both("bmm")
def moreh_bmm(input, mat2, *, output=None, memory_config=None, compute_kernel_config=None):
    return matmul.function(input, mat2, memory_config=memory_config, optional_output_tensor=output)


@_both("dot")
def moreh_dot(input_a, input_b, *, dtype=None, output=None, memory_config=None,
              compute_kernel_config=None):
    return matmul.function(input_a, input_b, transpose_b=True, memory_config=memory_config,
                           optional_output_tensor=output)


@_both("softmax")
def moreh_softmax(input_tensor, dim=-1, *, output_tensor=None, memory_config=None, **_):
    return _softmax("moreh_softmax", input_tensor, dim, memory_config, output_tensor)


def _of_softmax(name, function):
    @_both(name)
    def call(input_tensor, dim=-1, *, output_tensor=None, memory_config=None, **_):
        """Computes a softmax, and a function of it or of its input."""
        require_device("moreh_" + name, input_tensor)
        out = make_output(input_tensor._shape, input_tensor, None, None, memory_config,
                          output_tensor)
        program("moreh_" + name, "softmax", [input_tensor], [out], True)
        values(lambda x: function(x, dim), [input_tensor], [out])
        return out

    return call


_of_softmax("softmin", lambda x, dim: arrays.softmax(arrays.unary("neg", x, []), dim))
_of_softmax("logsoftmax", lambda x, dim: arrays.unary("log", arrays.softmax(x, dim), []))


@_both("softmax_backward")
def moreh_softmax_backward(output_tensor, output_grad_tensor, dim=-1, *, input_grad_tensor=None,
                           memory_config=None, **_):
    require_device("moreh_softmax_backward", output_tensor, output_grad_tensor)
    out = make_output(output_tensor._shape, output_tensor, None, None, memory_config,
                      input_grad_tensor)
    program("moreh_softmax_backward", "softmax_backward", [output_tensor, output_grad_tensor], [out])

    def compute(y, g):
        y, g = V(y), V(g)
        return (y * (g - V(arrays.reduce("sum", (y * g).a, [dim], True)))).a

    values(compute, [output_tensor, output_grad_tensor], [out])
    return out


@_both("layer_norm")
def moreh_layer_norm(input, normalized_dims=1, eps=1e-5, gamma=None, beta=None, *, output=None,
                     mean=None, rstd=None, memory_config=None, compute_kernel_config=None):
    """Returns the result, the mean and 1 / the deviation of each row."""
    require_device("moreh_layer_norm", input)
    rows = list(input._shape)[:-1] + [1]
    outs = [make_output(input._shape, input, None, None, memory_config, output),
            make_output(rows, input, None, None, memory_config, mean),
            make_output(rows, input, None, None, memory_config, rstd)]
    extra = [t for t in (gamma, beta) if t is not None]
    program("moreh_layer_norm", "layernorm", [input], outs)

    def compute(x, *rest):
        centre = arrays.reduce("mean", x, [-1], True)
        variance = V(arrays.reduce("var0", x, [-1], True))
        made = arrays.normalized(x, float(eps), False)
        for function, one in zip(("multiply", "add"), rest):
            made = arrays.binary(function, made, one.reshaped([one.size]))
        return [made, centre, (variance + eps).f("rsqrt").a]

    values(compute, [input] + extra, outs)
    return outs


# These numbers follow the tensors, where a caller gives them by their places.
_ADAM_NUMBERS = ("lr", "beta1", "beta2", "eps", "weight_decay", "step", "amsgrad")
_SGD_NUMBERS = ("lr", "momentum", "dampening", "weight_decay", "nesterov")


def _optimizer(name, step_of):
    @_both(name)
    def call(param_in, grad, *states, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0,
             step=1, amsgrad=False, momentum=0.0, dampening=0.0, nesterov=False,
             momentum_initialized=False, param_out=None, exp_avg_out=None, exp_avg_sq_out=None,
             momentum_buffer_out=None, memory_config=None, compute_kernel_config=None):
        """Launches one program, whose results are in the places that are given, or in new ones."""
        numbers = [s for s in states if isinstance(s, (bool, int, float))]
        states = [s for s in states if s is not None and not isinstance(s, (bool, int, float))]
        for one in states:
            if not hasattr(one, "_shape"):
                raise TypeError(f"moreh_{name}: {one!r} is neither a tensor nor a number")
        by_place = dict(zip(_SGD_NUMBERS if name == "sgd" else _ADAM_NUMBERS, numbers))
        lr = by_place.get("lr", lr)
        beta1, beta2 = by_place.get("beta1", beta1), by_place.get("beta2", beta2)
        eps, step = by_place.get("eps", eps), by_place.get("step", step)
        weight_decay = by_place.get("weight_decay", weight_decay)
        momentum = by_place.get("momentum", momentum)
        dampening = by_place.get("dampening", dampening)
        nesterov = by_place.get("nesterov", nesterov)
        inputs = [param_in, grad] + states
        require_device("moreh_" + name, *inputs)
        kept = [param_in] + inputs[2:]
        given = [param_out, exp_avg_out if name != "sgd" else momentum_buffer_out, exp_avg_sq_out]
        outs = [make_output(one._shape, one, None, None, memory_config, given[i] if i < 3 else None)
                for i, one in enumerate(kept)]
        program("moreh_" + name, "adamw", inputs, outs, name != "adamw")
        told = dict(lr=lr, beta1=beta1, beta2=beta2, eps=eps, decay=weight_decay, step=step,
                    momentum=momentum, dampening=dampening, nesterov=nesterov,
                    started=momentum_initialized)
        values(lambda *numbers: [v.a for v in step_of([V(n) for n in numbers], told)], inputs, outs)
        return outs

    return call


def _adam(numbers, told, decoupled):
    p, g, m, v = numbers[:4]
    if decoupled:
        p = p - told["lr"] * told["decay"] * p
    else:
        g = g + told["decay"] * p
    m = told["beta1"] * m + (1 - told["beta1"]) * g
    v = told["beta2"] * v + (1 - told["beta2"]) * g * g
    right = v / (1 - told["beta2"] ** told["step"])
    p = p - told["lr"] / (1 - told["beta1"] ** told["step"]) * m / (right.f("sqrt") + told["eps"])
    return [p, m, v] + numbers[4:]


def _sgd(numbers, told):
    p, g = numbers[:2]
    g = g + told["decay"] * p
    if len(numbers) < 3:
        return [p - told["lr"] * g]
    buffer = told["momentum"] * numbers[2] + (1 - told["dampening"]) * g if told["started"] else g
    g = g + told["momentum"] * buffer if told["nesterov"] else buffer
    return [p - told["lr"] * g, buffer]


_optimizer("adamw", lambda numbers, told: _adam(numbers, told, True))
_optimizer("adam", lambda numbers, told: _adam(numbers, told, False))
_optimizer("sgd", _sgd)
