# SPDX-License-Identifier: Apache-2.0
"""Implements what few scripts use: complex numbers, dropout, bits, convolutions of one dimension,
more of moreh."""

import math

from howard import _native

from ._backward import V, _gradients
from ._conv import conv2d
from ._create import _filled, _like, arange
from ._elementwise import FUNCTIONS
from ._launch import make_output, operation, program, require_device, values
from ._matmul import matmul
from ._moreh import _both
from ._movement import _moved, concat, slice_
from ._reduce import cumsum, sum as sum_
from ._transformer import scaled_dot_product_attention
from ._types import DataType, Layout

arrays = _native._ttnn.arrays


@operation("experimental.dropout")
def dropout(input_tensor, *, probability, scale, seed, use_per_device_seed=True, memory_config=None,
            output_tensor=None):
    """Makes numbers zero with a probability and multiplies the others by scale. The same seed drops
    the same."""
    require_device("dropout", input_tensor)
    out = make_output(input_tensor._shape, input_tensor, None, None, memory_config, output_tensor)
    program("dropout", "dropout", [input_tensor], [out], probability=float(probability), seed=0)

    def compute(x):
        drawn = arrays.uniform(list(x.shape), 0.0, 1.0, seed, False)
        kept = arrays.binary("ge", drawn, arrays.full([], float(probability), False))
        return (V(x) * V(kept) * scale).a

    values(compute, [input_tensor], [out])
    return out


@operation("bitcast")
def bitcast(input_tensor, dtype, *, memory_config=None, output_tensor=None):
    """Returns the same bits as another type of as many bytes."""
    def compute(x):
        raw, whole = x.bytes(), dtype.whole
        if input_tensor._dtype in (DataType.BFLOAT16, DataType.UINT16):
            if whole:  # The upper half of a float32's bits.
                words = memoryview(bytes(raw)).cast("I")
                made = [w >> 16 for w in words]
                import array

                return arrays.from_bytes(array.array("I", made), "I", list(x.shape))
            import array

            words = array.array("H", [w & 0xFFFF for w in memoryview(bytes(raw)).cast("I")])
            return arrays.from_bytes(words, "E", list(x.shape))
        return arrays.from_bytes(raw, "i" if whole else "f", list(x.shape))

    return _moved("bitcast", [input_tensor], list(input_tensor._shape), compute, memory_config,
                  output_tensor, dtype=dtype, kernel="relu")


@operation("experimental.fast_reduce_nc")
def fast_reduce_nc(input, *, dims, output=None, memory_config=None, compute_kernel_config=None):
    """Returns the sum over outer dimensions, which stay as 1."""
    return sum_.function(input, list(dims), True, memory_config=memory_config, output_tensor=output)


@operation("fill_rm")
def fill_rm(n, c, h, w, h_fill, w_fill, input, value_high, value_low, *, memory_config=None):
    def compute(x):
        high = arrays.full([n, c, h_fill, w_fill], float(value_high), False)
        return arrays.padded(high, [0] * 4, [0, 0, h - h_fill, w - w_fill], float(value_low))

    return _moved("fill_rm", [input], [n, c, h, w], compute, memory_config)


@operation("transformer.joint_scaled_dot_product_attention")
def joint_scaled_dot_product_attention(q, k, v, joint_q, joint_k, joint_v, *, joint_strategy="rear",
                                       program_config=None, scale=None, compute_kernel_config=None):
    """Computes attention over two sequences, one behind the other, and returns the results of
    both."""
    whole = [concat.function([a, b], 2) for a, b in ((q, joint_q), (k, joint_k), (v, joint_v))]
    made = scaled_dot_product_attention.function(*whole, is_causal=False, scale=scale)
    cut, shape = q._shape[2], list(made._shape)
    first = slice_.function(made, [0] * 4, shape[:2] + [cut] + shape[3:])
    second = slice_.function(made, [0, 0, cut, 0], shape)
    return first, second


@operation()
def conv1d(*, input_tensor, weight_tensor, in_channels, out_channels, device=None, bias_tensor=None,
           kernel_size, stride=1, padding=0, dilation=1, batch_size, input_length, groups=1,
           return_output_dim=False, return_weights_and_bias=False, **kwargs):
    """Computes a convolution of images that are one row high."""
    made = conv2d.function(
        input_tensor=input_tensor, weight_tensor=weight_tensor, in_channels=in_channels,
        out_channels=out_channels, device=device, bias_tensor=bias_tensor,
        kernel_size=(1, kernel_size), stride=(1, stride), padding=(0, padding),
        dilation=(1, dilation), batch_size=batch_size, input_height=1, input_width=input_length,
        groups=groups, return_output_dim=True, return_weights_and_bias=True, **kwargs)
    answer = [made[0]]
    if return_output_dim:
        answer.append(made[1][1])
    if return_weights_and_bias:
        answer.append(made[2])
    return answer[0] if len(answer) == 1 else tuple(answer)


# Complex numbers: two tensors.


class ComplexTensor:
    def __init__(self, real, imag):
        self.real, self.imag = real, imag

    def deallocate(self):
        self.real.deallocate()
        self.imag.deallocate()


def complex_tensor(real, imag):
    return ComplexTensor(real, imag)


def real(tensor, *, memory_config=None):
    return tensor.real


def imag(tensor, *, memory_config=None):
    return tensor.imag


def conj(tensor, *, memory_config=None):
    return ComplexTensor(tensor.real, FUNCTIONS["neg"](tensor.imag))


def angle(tensor, *, memory_config=None):
    return FUNCTIONS["atan2"](tensor.imag, tensor.real)


def polar(tensor, *, memory_config=None):
    """Returns the complex numbers of lengths and angles."""
    length, turn = tensor.real, tensor.imag
    return ComplexTensor(FUNCTIONS["multiply"](length, FUNCTIONS["cos"](turn)),
                         FUNCTIONS["multiply"](length, FUNCTIONS["sin"](turn)))


def is_real(tensor, *, memory_config=None):
    return FUNCTIONS["eqz"](tensor.imag)


def is_imag(tensor, *, memory_config=None):
    return FUNCTIONS["eqz"](tensor.real)


# moreh.


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


@_both("cumsum")
def moreh_cumsum(input, dim, *, output=None, memory_config=None, compute_kernel_config=None):
    return cumsum.function(input, dim, out=output, memory_config=memory_config)


@_both("norm")
def moreh_norm(input, p=2.0, dim=None, keepdim=False, *, output=None, memory_config=None,
               compute_kernel_config=None):
    """Computes (sum of |x|^p)^(1/p) in three steps."""
    if p == math.inf:
        from ._reduce import max as max_

        return max_.function(FUNCTIONS["abs"].function(input), dim, keepdim)
    powers = FUNCTIONS["pow"].function(FUNCTIONS["abs"].function(input), p)
    total = sum_.function(powers, dim, keepdim, memory_config=memory_config)
    return FUNCTIONS["pow"].function(total, 1 / p, output_tensor=output)


@_both("abs_pow")
def moreh_abs_pow(input, p, *, output=None, memory_config=None, compute_kernel_config=None):
    return FUNCTIONS["pow"].function(FUNCTIONS["abs"].function(input), p,
                                     memory_config=memory_config, output_tensor=output)


def _spread(name, mean):
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
            return arrays.broadcast_to((V(g.reshaped(kept)) / count).a, shape)

        return _moved("moreh_" + name, [output_grad], shape, compute, memory_config, input_grad,
                      kernel="move")

    return call


_spread("sum_backward", False)
_spread("mean_backward", True)


@_both("matmul_backward")
def moreh_matmul_backward(output_grad, input, other, *, are_required_outputs=(True, True),
                          input_grad=None, other_grad=None, memory_config=None,
                          compute_kernel_config=None):
    left, right = are_required_outputs
    return [
        matmul.function(output_grad, other, transpose_b=True, optional_output_tensor=input_grad)
        if left else None,
        matmul.function(input, output_grad, transpose_a=True, optional_output_tensor=other_grad)
        if right else None,
    ]


@_both("linear_backward")
def moreh_linear_backward(output_grad, input, weight, *, are_required_outputs=(True, True, True),
                          bias=None, input_grad=None, weight_grad=None, bias_grad=None,
                          input_grad_memory_config=None, weight_grad_memory_config=None,
                          bias_grad_memory_config=None, compute_kernel_config=None):
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


@_both("layer_norm_backward")
def moreh_layer_norm_backward(output_grad, input, mean, rstd, normalized_dims=1, *, gamma=None,
                              input_grad=None, gamma_grad=None, beta_grad=None, memory_config=None,
                              compute_kernel_config=None):
    """Returns dx, and the gradients of gamma and beta where they are wanted."""
    def compute(g, x, m, r, *rest):
        normal = (V(x) - V(m)) * V(r)
        scaled = V(g) if not rest else V(g) * V(rest[0].reshaped([rest[0].size]))

        def row_mean(v):
            return V(arrays.reduce("mean", v.a, [-1], True))

        return V(r) * (scaled - row_mean(scaled) - normal * row_mean(scaled * normal))

    extra = [mean, rstd] + ([gamma] if gamma is not None else [])
    made = _gradients("moreh_layer_norm_backward", output_grad, [input] + extra, 1, 2,
                      lambda g, x, *rest: compute(g.a, x.a, *[r.a for r in rest]), memory_config,
                      [input_grad])
    answer = made + [None, None]
    if gamma_grad is not None:
        dims = list(range(len(input._shape) - 1))
        values(lambda g, x, m, r: arrays.reduce(
            "sum", (V(g) * (V(x) - V(m)) * V(r)).a, dims, False), [output_grad, input, mean, rstd],
            [gamma_grad])
        program("moreh_layer_norm_backward", "move", [output_grad], [gamma_grad], True)
        answer[1] = gamma_grad
    if beta_grad is not None:
        dims = list(range(len(input._shape) - 1))
        values(lambda g: arrays.reduce("sum", g, dims, False), [output_grad], [beta_grad])
        program("moreh_layer_norm_backward", "move", [output_grad], [beta_grad], True)
        answer[2] = beta_grad
    return answer


@_both("clip_grad_norm")
def moreh_clip_grad_norm(inputs, max_norm, norm_type=2.0, error_if_nonfinite=False, *,
                         total_norm=None, memory_config=None, compute_kernel_config=None):
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
        values(lambda g, t: (V(g) * (V(max_norm) / (V(t) + 1e-6)).f("clamp", 0, 1)).a, [one, total],
               [one])
    return total
