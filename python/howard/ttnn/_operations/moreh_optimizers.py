# SPDX-License-Identifier: Apache-2.0
"""Implements moreh's optimizers."""

from .._arrays import apply, np
from .._launch import fail, make_output, program, require_device, values
from .eltwise import FUNCTIONS
from .moreh import _both, moreh_norm


# These numbers follow the tensors, where a caller gives them by their places.
_ADAM_NUMBERS = ("lr", "beta1", "beta2", "eps", "weight_decay", "step", "amsgrad")
_SGD_NUMBERS = ("lr", "momentum", "dampening", "weight_decay", "nesterov")


def _numbers_and_states(name, states, words):
    """Returns the tensors, and the numbers by their names, which may follow the tensors in their
    places."""
    numbers = [s for s in states if isinstance(s, (bool, int, float))]
    tensors = [s for s in states if s is not None and not isinstance(s, (bool, int, float))]
    for one in tensors:
        if not hasattr(one, "_shape"):
            raise TypeError(f"moreh_{name}: {one!r} is neither a tensor nor a number")
    return tensors, {**words, **dict(zip(_SGD_NUMBERS if name == "sgd" else _ADAM_NUMBERS, numbers))}


def _optimizer(name, step_of, decay=0.0):
    @_both(name, unread="compute_kernel_config")
    def call(param_in, grad, *states, max_exp_avg_sq_in=None, param_out=None, exp_avg_out=None,
             exp_avg_sq_out=None, max_exp_avg_sq_out=None, memory_config=None, lr=1e-3, beta1=0.9,
             beta2=0.999, eps=1e-8, weight_decay=decay, step=0, amsgrad=False):
        """Launches one program, whose results are in the places that are given, or in new ones."""
        states, told = _numbers_and_states(name, states, dict(
            lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay, step=step,
            amsgrad=amsgrad))
        largest = states[2:] or [one for one in [max_exp_avg_sq_in] if one is not None]
        if bool(told["amsgrad"]) != bool(largest):
            fail("moreh_" + name, "amsgrad=True and max_exp_avg_sq_in must be given together")
        inputs = [param_in, grad, *states[:2], *largest]
        require_device("moreh_" + name, *inputs)
        given = [param_out, exp_avg_out, exp_avg_sq_out, max_exp_avg_sq_out]
        outs = [make_output(one._shape, one, None, None, memory_config, at)
                for one, at in zip([param_in, *inputs[2:]], given)]
        program("moreh_" + name, "adamw", inputs, outs, name != "adamw",
                **({"amsgrad": True} if largest else {}))
        values(lambda *numbers: step_of(list(numbers), told), inputs, outs)
        return outs + [None] * (4 - len(outs))

    return call


def _adam(numbers, told, decoupled):
    p, g, m, v = numbers[:4]
    if decoupled:
        p = p - told["lr"] * told["weight_decay"] * p
    else:
        g = g + told["weight_decay"] * p
    m = told["beta1"] * m + (1 - told["beta1"]) * g
    v = told["beta2"] * v + (1 - told["beta2"]) * g * g
    most = [np.maximum(numbers[4], v)] if told["amsgrad"] else []
    right, left = (1 - told[beta] ** np.float64(told["step"]) for beta in ("beta2", "beta1"))
    p = p - told["lr"] / left * m / (apply("sqrt", (most[0] if most else v) / right) + told["eps"])
    return [p, m, v, *most]


@_both("sgd", unread="compute_kernel_config")
def moreh_sgd(param_in, grad, *states, param_out=None, momentum_buffer_out=None, memory_config=None,
              lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False,
              momentum_initialized=False):
    """Launches one program, whose results are in the places that are given, or in new ones: these may
    follow the buffer of momentum in their places too."""
    places = [one for one in states[:3] if not isinstance(one, (bool, int, float))]
    if len(places) > 1:
        param_out, momentum_buffer_out = (*places[1:], momentum_buffer_out)[:2]
    states, told = _numbers_and_states("sgd", (*places[:1], *states[len(places):]), dict(
        lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov))
    inputs = [param_in, grad, *states]
    require_device("moreh_sgd", *inputs)
    outs = [make_output(one._shape, one, None, None, memory_config, at)
            for one, at in zip([param_in, *states], (param_out, momentum_buffer_out))]
    program("moreh_sgd", "sgd", inputs, outs, True, momentum=len(states),
            weight_decay=int(told["weight_decay"] != 0), nesterov=bool(told["nesterov"]))
    told["started"] = momentum_initialized
    values(lambda *numbers: _sgd(list(numbers), told), inputs, outs)
    return outs


def _sgd(numbers, told):
    p, g = numbers[:2]
    g = g + told["weight_decay"] * p
    if len(numbers) < 3:
        return [p - told["lr"] * g]
    buffer = told["momentum"] * numbers[2] + (1 - told["dampening"]) * g if told["started"] else g
    g = g + told["momentum"] * buffer if told["nesterov"] else buffer
    return [p - told["lr"] * g, buffer]


_optimizer("adamw", lambda numbers, told: _adam(numbers, told, True), 1e-2)
_optimizer("adam", lambda numbers, told: _adam(numbers, told, False))


@_both("clip_grad_norm", unread="compute_kernel_config")
def moreh_clip_grad_norm(inputs, max_norm, norm_type=2.0, error_if_nonfinite=False, *,
                         total_norm=None, memory_config=None):
    """Scales the gradients in their places, so that their norm is max_norm at most, and returns the
    norm."""
    total = None
    for one in inputs:
        power = FUNCTIONS["pow"].function(moreh_norm.function(one, norm_type), norm_type)
        total = power if total is None else FUNCTIONS["add"].function(total, power)
    total = FUNCTIONS["pow"].function(total, 1 / norm_type, memory_config=memory_config,
                                      output_tensor=total_norm)
    if error_if_nonfinite:
        total.blocking_read()
        if not np.isfinite(total.array()).all():
            fail("moreh_clip_grad_norm", f"The total norm of order {norm_type} for gradients is "
                 "non-finite, so it cannot be clipped")
    for one in inputs:
        program("moreh_clip_grad_norm", "multiply", [one], [one], True, scalar=1)
        values(lambda g, t: g * apply("clamp", max_norm / (t + 1e-6), numbers=[0, 1]), [one, total],
               [one])
    return total
