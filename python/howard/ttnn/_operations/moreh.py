# SPDX-License-Identifier: Apache-2.0
"""Implements the moreh ops: reductions, products and optimizers of their own kernels."""

import math


from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import device_tensor
from .._types import Layout
from .creation import _filled, _like, arange
from .data_movement import _axis, _moved
from .eltwise import FUNCTIONS
from .eltwise_backward import _gradients
from .matmul import linear, matmul
from .normalization import _softmax
from .reduction import cumsum, max as max_, mean, sum as sum_


def _both(name, **apart):
    """Registers as ttnn.moreh_NAME and ttnn.operations.moreh.NAME."""

    def register(function):
        operation("moreh." + name, **apart)(function)
        return operation("moreh_" + name, **apart)(function)

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


@_both("matmul", unread="compute_kernel_config")
def moreh_matmul(input, other, *, transpose_input=False, transpose_other=False, output=None,
                 bias=None, memory_config=None):
    return linear.function(input, other, bias=bias, transpose_a=transpose_input,
                           transpose_b=transpose_other, memory_config=memory_config,
                           optional_output_tensor=output)


@_both("linear", unread="compute_kernel_config")
def moreh_linear(input, weight, *, bias=None, output=None, memory_config=None):
    return linear.function(input, weight, bias=bias, transpose_b=True, memory_config=memory_config,
                           optional_output_tensor=output)


@_both("bmm", unread="compute_kernel_config")
def moreh_bmm(input, mat2, *, output=None, memory_config=None):
    return matmul.function(input, mat2, memory_config=memory_config, optional_output_tensor=output)


@_both("dot", unread="compute_kernel_config")
def moreh_dot(input_a, input_b, *, dtype=None, output=None, memory_config=None):
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


_of_softmax("softmin", lambda x, dim: arrays.softmax(apply("neg", x), dim))
_of_softmax("logsoftmax", lambda x, dim: apply("log", arrays.softmax(x, dim)))


@_both("softmax_backward")
def moreh_softmax_backward(output_tensor, output_grad_tensor, dim=-1, *, input_grad_tensor=None,
                           memory_config=None, **_):
    require_device("moreh_softmax_backward", output_tensor, output_grad_tensor)
    out = make_output(output_tensor._shape, output_tensor, None, None, memory_config,
                      input_grad_tensor)
    program("moreh_softmax_backward", "softmax_backward", [output_tensor, output_grad_tensor], [out])

    def compute(y, g):
        y, g = y, g
        return y * (g - arrays.reduce("sum", y * g, [dim], True))

    values(compute, [output_tensor, output_grad_tensor], [out])
    return out


@_both("layer_norm", unread="compute_kernel_config")
def moreh_layer_norm(input, normalized_dims=1, eps=1e-5, gamma=None, beta=None, *, output=None,
                     mean=None, rstd=None, memory_config=None):
    """Returns the result, the mean and 1 / the deviation of each row."""
    require_device("moreh_layer_norm", input)
    rows = list(input._shape)[:-1] + [1]
    outs = [make_output(input._shape, input, None, None, memory_config, output),
            make_output(rows, input, None, None, memory_config, mean),
            make_output(rows, input, None, None, memory_config, rstd)]
    extra = [t for t in (gamma, beta) if t is not None]
    program("moreh_layer_norm", "ttml_layernorm", [input], outs)

    def compute(x, *rest):
        centre = arrays.reduce("mean", x, [-1], True)
        variance = arrays.reduce("var0", x, [-1], True)
        made = arrays.normalized(x, float(eps), False)
        for function, one in zip(("multiply", "add"), rest):
            made = apply(function, made, one.reshape([one.size]))
        return [made, centre, apply("rsqrt", variance + eps)]

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
        if name == "sgd":
            program("moreh_sgd", "sgd", inputs, outs, True, momentum=len(kept) - 1,
                    weight_decay=int(weight_decay != 0), nesterov=bool(nesterov))
        else:
            program("moreh_" + name, "adamw", inputs, outs, name != "adamw",
                    **({"amsgrad": True} if len(kept) > 3 else {}))
        told = dict(lr=lr, beta1=beta1, beta2=beta2, eps=eps, decay=weight_decay, step=step,
                    momentum=momentum, dampening=dampening, nesterov=nesterov,
                    started=momentum_initialized)
        values(lambda *numbers: step_of(list(numbers), told), inputs, outs)
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
    p = p - told["lr"] / (1 - told["beta1"] ** told["step"]) * m / (apply("sqrt", right) + told["eps"])
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


@_both("full")
def moreh_full(shape, fill_value, mesh_device=None, *, device=None, dtype=None, layout=None,
               memory_config=None):
    return _filled(shape, fill_value, dtype, layout or Layout.TILE, device or mesh_device,
                   memory_config)


@_both("full_like")
def moreh_full_like(input, fill_value, *, dtype=None, layout=None, memory_config=None):
    return _like("moreh_full_like", input, fill_value, dtype, layout, None, memory_config, None)


@_both("arange")
def moreh_arange(start=0, end=None, step=1, mesh_device=None, *, output=None,
                 untilize_out=False, dtype=None, memory_config=None):
    return arange.function(start, end, step, dtype, mesh_device, memory_config)


@_both("cumsum", unread="compute_kernel_config")
def moreh_cumsum(input, dim, *, output=None, memory_config=None):
    return cumsum.function(input, dim, out=output, memory_config=memory_config)


@_both("norm", unread="compute_kernel_config")
def moreh_norm(input, p=2.0, dim=None, keepdim=False, *, output=None, memory_config=None):
    """Computes (sum of |x|^p)^(1/p) in three steps."""
    if p == math.inf:
        return max_.function(FUNCTIONS["abs"].function(input), dim, keepdim)
    powers = FUNCTIONS["pow"].function(FUNCTIONS["abs"].function(input), p)
    total = sum_.function(powers, dim, keepdim, memory_config=memory_config)
    return FUNCTIONS["pow"].function(total, 1 / p, output_tensor=output)


@_both("abs_pow", unread="compute_kernel_config")
def moreh_abs_pow(input, p, *, output=None, memory_config=None):
    return FUNCTIONS["pow"].function(FUNCTIONS["abs"].function(input), p,
                                     memory_config=memory_config, output_tensor=output)


def _spread_gradient(name, mean):
    @_both(name)
    def call(output_grad, input=None, dim=None, *, keepdim=False, input_grad=None,
             input_grad_shape=None, memory_config=None, compute_kernel_config=None):
        """Returns the gradient of each element that was summed."""
        shape = list(input._shape if input is not None else input_grad_shape)
        dims = list(range(len(shape))) if dim is None else [
            d % len(shape) for d in ([dim] if isinstance(dim, int) else dim)]
        kept = [1 if i in dims else d for i, d in enumerate(shape)]
        count = math.prod(shape[i] for i in dims) if mean else 1

        def compute(g):
            return np.broadcast_to(g.reshape(kept) / count, shape)

        return _moved("moreh_" + name, [output_grad], shape, compute, memory_config, input_grad,
                      kernel="move")

    return call


_spread_gradient("sum_backward", False)
_spread_gradient("mean_backward", True)


@_both("matmul_backward", unread="compute_kernel_config")
def moreh_matmul_backward(output_grad, input, other, *, are_required_outputs=(True, True),
                          input_grad=None, other_grad=None, memory_config=None):
    left, right = are_required_outputs
    return [
        matmul.function(output_grad, other, transpose_b=True, optional_output_tensor=input_grad)
        if left else None,
        matmul.function(input, output_grad, transpose_a=True, optional_output_tensor=other_grad)
        if right else None,
    ]


@_both("linear_backward", unread="compute_kernel_config")
def moreh_linear_backward(output_grad, input, weight, *, are_required_outputs=(True, True, True),
                          bias=None, input_grad=None, weight_grad=None, bias_grad=None,
                          input_grad_memory_config=None, weight_grad_memory_config=None,
                          bias_grad_memory_config=None):
    wanted = list(are_required_outputs)
    made = [None] * 3
    if wanted[0]:
        made[0] = matmul.function(output_grad, weight, optional_output_tensor=input_grad)
    if wanted[1]:
        made[1] = matmul.function(output_grad, input, transpose_a=True,
                                  optional_output_tensor=weight_grad)
        while len(made[1]._shape) > 2 and weight_grad is None:
            made[1] = sum_.function(made[1], 0)
    if wanted[2] and bias is not None:
        rank = len(output_grad._shape)
        made[2] = sum_.function(output_grad, list(range(rank - 1)), True, output_tensor=bias_grad)
    return made


@_both("layer_norm_backward", unread="compute_kernel_config")
def moreh_layer_norm_backward(output_grad, input, mean, rstd, normalized_dims=1, *, gamma=None,
                              input_grad=None, gamma_grad=None, beta_grad=None, memory_config=None):
    """Returns dx, and the gradients of gamma and beta where they are wanted."""
    def compute(g, x, m, r, *rest):
        normal = (x - m) * r
        scaled = g if not rest else g * rest[0].reshape([rest[0].size])

        def row_mean(v):
            return arrays.reduce("mean", v, [-1], True)

        return r * (scaled - row_mean(scaled) - normal * row_mean(scaled * normal))

    extra = [mean, rstd] + ([gamma] if gamma is not None else [])
    made = _gradients("moreh_layer_norm_backward", output_grad, [input] + extra, 1, 2,
                      compute, memory_config, [input_grad])
    answer = made + [None, None]
    if gamma_grad is not None:
        dims = list(range(len(input._shape) - 1))
        values(lambda g, x, m, r: arrays.reduce(
            "sum", g * (x - m) * r, dims, False), [output_grad, input, mean, rstd],
            [gamma_grad])
        program("moreh_layer_norm_backward", "move", [output_grad], [gamma_grad], True)
        answer[1] = gamma_grad
    if beta_grad is not None:
        dims = list(range(len(input._shape) - 1))
        values(lambda g: arrays.reduce("sum", g, dims, False), [output_grad], [beta_grad])
        program("moreh_layer_norm_backward", "move", [output_grad], [beta_grad], True)
        answer[2] = beta_grad
    return answer


@_both("clip_grad_norm", unread="compute_kernel_config")
def moreh_clip_grad_norm(inputs, max_norm, norm_type=2.0, error_if_nonfinite=False, *,
                         total_norm=None, memory_config=None):
    """Scales the gradients in their places, so that their norm is max_norm at most, and returns the
    norm."""
    squares = [moreh_norm.function(one, norm_type) for one in inputs]
    total = None
    for one in squares:
        power = FUNCTIONS["pow"].function(one, norm_type)
        total = power if total is None else FUNCTIONS["add"].function(total, power)
    total = FUNCTIONS["pow"].function(total, 1 / norm_type)
    for one in inputs:
        program("moreh_clip_grad_norm", "multiply", [one], [one], True, scalar=1)
        values(lambda g, t: g * apply("clamp", max_norm / (t + 1e-6), numbers=[0, 1]), [one, total],
               [one])
    return total


@_both("nll_loss", unread="compute_kernel_config")
def moreh_nll_loss(input_tensor, target_tensor, reduction="mean", *, weight_tensor=None,
                   divisor_tensor=None, output_tensor=None, ignore_index=-100, memory_config=None):
    """Returns the loss of log-probabilities [n, c, ...] at the classes [n, ...] of a target."""
    name = "moreh_nll_loss"
    extra = [weight_tensor] if weight_tensor is not None else []
    require_device(name, input_tensor, target_tensor, *extra)
    whole = reduction != "none"
    out = make_output([1] if whole else list(target_tensor._shape), input_tensor, None, None,
                      memory_config, output_tensor)
    parts = device_tensor(target_tensor._shape, input_tensor._dtype, Layout.TILE, None,
                          input_tensor._device)
    program(name, "move", [input_tensor], [parts], True)
    if whole:
        program("moreh_sum", "sum", [parts], [out], True, out_shapes=[[1]], dimension="all")
    classes = input_tensor._shape[1]

    def compute(x, target, weight=None):
        kept = target != float(ignore_index)
        inside = apply("clamp", target, numbers=[0.0, float(classes - 1)])
        index = inside.reshape([target.shape[0], 1, *target.shape[1:]])
        chosen = arrays.gathered(x, 1, index).reshape(list(target.shape))
        scale = kept
        if weight is not None:
            row = arrays.gathered(weight.reshape([weight.size]), 0, inside.reshape([target.size]))
            scale = scale * row.reshape(list(target.shape))
        losses = -(chosen * scale)
        if not whole:
            return losses
        dims = list(range(len(target.shape)))
        total = arrays.reduce("sum", losses, dims, False).reshape([1])
        if reduction == "sum":
            return total
        return total / arrays.reduce("sum", scale, dims, False).reshape([1])

    values(compute, [input_tensor, target_tensor] + extra, [out])
    return out


@_both("getitem")
def moreh_getitem(input, index_tensors, index_dims, *, output=None, memory_config=None):
    """Returns the elements at the places of the indices of all dimensions that are named,
    together."""
    indices, dims = list(index_tensors), [_axis("moreh_getitem", input, d) for d in index_dims]
    if dims != list(range(dims[0], dims[0] + len(dims))):
        fail("moreh_getitem", f"the dimensions {dims} must follow each other")
    shape, count = list(input._shape), indices[0]._shape.volume()
    size = math.prod(shape[d] for d in dims)
    merged = shape[:dims[0]] + [size] + shape[dims[-1] + 1:]
    out_shape = shape[:dims[0]] + [count] + shape[dims[-1] + 1:]

    def compute(x, *places):
        flat = None
        for d, place in zip(dims, places):
            place = place.reshape([count])
            flat = place if flat is None else flat * shape[d] + place
        rest = [1] * len(merged)
        rest[dims[0]] = count
        wide = np.broadcast_to(flat.reshape(rest), out_shape)
        return arrays.gathered(x.reshape(merged), dims[0], wide)

    return _moved("moreh_getitem", [input] + indices, out_shape, compute, memory_config, output)


@_both("group_norm")
def moreh_group_norm(input, num_groups, eps=1e-5, gamma=None, beta=None, *,
                     are_required_outputs=(True, False, False), output=None, mean=None, rstd=None,
                     memory_config=None, **_):
    """Returns [n, c, h, w] normalised by groups of channels, and the mean and 1 / the deviation of
    each."""
    n, c, h, w = list(input._shape)
    if c % num_groups:
        fail("moreh_group_norm", f"{c} channels cannot be divided into {num_groups} groups")
    extra = [t for t in (gamma, beta) if t is not None]
    require_device("moreh_group_norm", input, *extra)
    rows = [1, 1, n, num_groups]
    outs = [make_output(input._shape, input, None, None, memory_config, output),
            make_output(rows, input, None, None, memory_config, mean),
            make_output(rows, input, None, None, memory_config, rstd)]
    program("moreh_group_norm", "layernorm", [input], [outs[0]], True)

    def compute(x, *rest):
        flat = x.reshape([n, num_groups, c // num_groups * h * w])
        made = arrays.normalized(flat, float(eps), False).reshape([n, c, h, w])
        rest = list(rest)
        if gamma is not None:
            made = made * rest.pop(0).reshape([1, c, 1, 1])
        if beta is not None:
            made = made + rest.pop(0).reshape([1, c, 1, 1])
        variance = arrays.reduce("var0", flat, [-1], True)
        return [made, arrays.reduce("mean", flat, [-1], True).reshape(rows),
                apply("rsqrt", variance + eps).reshape(rows)]

    values(compute, [input] + extra, outs)
    return [one if wanted else None for one, wanted in zip(outs, are_required_outputs)]
