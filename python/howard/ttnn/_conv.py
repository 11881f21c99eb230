# SPDX-License-Identifier: Apache-2.0
"""Implements convolutions and pools, in the chip's order of images: [1, 1, n h w, c]."""

from howard import _native

from ._configs import activation_of
from ._launch import make_output, operation, program, require_device, values
from ._tensor import Tensor
from ._types import Layout

arrays = _native._ttnn.arrays


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _paddings(padding):
    padding = _pair(padding)
    if len(padding) == 4:
        return padding
    return padding[0], padding[0], padding[1], padding[1]


def get_conv_output_dim(size, window, stride=1, pad=0, dilation=1):
    return (size + 2 * pad - dilation * (window - 1) - 1) // stride + 1


def _sizes(height, width, kernel, stride, padding, dilation):
    top, bottom, left, right = padding
    rows = (height + top + bottom - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    columns = (width + left + right - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    return rows, columns


def _window(x, kh, kw, rows, columns, stride, dilation):
    """Returns what one place of the kernel sees: [n, rows, columns, c]."""
    n, _h, _w, c = x.shape
    top, left = kh * dilation[0], kw * dilation[1]
    return arrays.sliced(x, [0, top, left, 0],
                         [n, top + (rows - 1) * stride[0] + 1,
                          left + (columns - 1) * stride[1] + 1, c], [1, stride[0], stride[1], 1])


def _convolved(x, weight, stride, padding, dilation, groups, sizes):
    """Convolves x [n, h, w, c] with a weight [out, c / groups, kh, kw]."""
    top, bottom, left, right = padding
    x = arrays.padded(x, [0, top, left, 0], [0, bottom, right, 0], 0.0)
    rows, columns = sizes
    out, per_group, kh, kw = weight.shape
    made = []
    for group in range(groups):
        total = None
        for i in range(kh):
            for j in range(kw):
                seen = _window(x, i, j, rows, columns, stride, dilation)
                seen = arrays.sliced(seen, [0, 0, 0, group * per_group],
                                     list(seen.shape[:3]) + [(group + 1) * per_group], [1] * 4)
                part = out // groups
                one = arrays.sliced(weight, [group * part, 0, i, j],
                                    [(group + 1) * part, per_group, i + 1, j + 1], [1] * 4)
                matrix = arrays.permuted(one.reshaped([part, per_group]), [1, 0])
                term = arrays.matmul(seen.reshaped([x.shape[0] * rows * columns, per_group]), matrix)
                total = term if total is None else arrays.binary("add", total, term)
        made.append(total)
    return arrays.concatenated(made, 1)


@operation()
def conv2d(*, input_tensor, weight_tensor, in_channels, out_channels, device=None, bias_tensor=None,
           kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), batch_size, input_height,
           input_width, conv_config=None, compute_config=None, groups=1, memory_config=None,
           slice_config=None, conv_op_cache=None, debug=False, return_output_dim=False,
           return_weights_and_bias=False, dtype=None, mirror_kernel=None):
    """Computes a product of each place's window with the weights; it is timed as that product, by
    analogy."""
    from ._create import to_device
    from ._movement import to_layout

    kernel, stride, dilation = _pair(kernel_size), _pair(stride), _pair(dilation)
    padding = _paddings(padding)
    rows, columns = _sizes(input_height, input_width, kernel, stride, padding, dilation)
    device = device or input_tensor._device
    if input_tensor._device is None:
        input_tensor = to_device.function(input_tensor, device)
    weight = weight_tensor if weight_tensor._device else to_device.function(weight_tensor, device)
    bias = bias_tensor if bias_tensor is None or bias_tensor._device else to_device.function(
        bias_tensor, device)
    require_device("conv2d", input_tensor)
    places = batch_size * rows * columns
    out = make_output([1, 1, places, out_channels], input_tensor,
                      dtype or getattr(conv_config, "dtype", None), Layout.TILE, memory_config)
    inner = in_channels // groups * kernel[0] * kernel[1]
    program("halo", "move", [input_tensor], [input_tensor], True)
    left = make_output([1, 1, places, inner], input_tensor, None, Layout.TILE)
    right = make_output([1, 1, inner, out_channels], input_tensor, None, Layout.TILE)
    program("conv2d", "matmul", [left, right], [out], True)
    activation = activation_of(getattr(conv_config, "activation", None))
    shape = [batch_size, input_height, input_width, in_channels]
    weights = [out_channels, in_channels // groups, kernel[0], kernel[1]]

    def compute(x, w, b=None):
        made = _convolved(x.reshaped(shape), w.reshaped(weights), stride, padding, dilation, groups,
                          (rows, columns))
        if b is not None:
            made = arrays.binary("add", made, b.reshaped([out_channels]))
        if activation is not None:
            made = arrays.unary(activation[0], made, activation[1])
        return made.reshaped([1, 1, places, out_channels])

    values(compute, [input_tensor, weight] + ([bias] if bias is not None else []), [out])
    if getattr(conv_config, "output_layout", None) is Layout.ROW_MAJOR:
        out = to_layout.function(out, Layout.ROW_MAJOR)
    answer = [out]
    if return_output_dim:
        answer.append([rows, columns])
    if return_weights_and_bias:
        answer.append([weight, bias])
    return answer[0] if len(answer) == 1 else tuple(answer)


def prepare_conv_weights(*, weight_tensor, **_):
    return weight_tensor


def prepare_conv_bias(*, bias_tensor, **_):
    return bias_tensor


def _pool(name, combine):
    @operation(name)
    def call(input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride=None,
             padding=(0, 0), dilation=(1, 1), *, ceil_mode=False, count_include_pad=True,
             divisor_override=None, memory_config=None, applied_shard_scheme=None, in_place_halo=False,
             deallocate_input=False, reallocate_halo_output=True, dtype=None, output_layout=None,
             **_):
        """Returns the largest, or the mean, of each place's window."""
        kernel, dilation = _pair(kernel_size), _pair(dilation)
        stride, padding = _pair(stride or kernel), _paddings(padding)
        rows, columns = _sizes(input_h, input_w, kernel, stride, padding, dilation)
        require_device(name, input_tensor)
        out = make_output([1, 1, batch_size * rows * columns, channels], input_tensor, dtype,
                          output_layout, memory_config)
        program("halo", "move", [input_tensor], [input_tensor], True)
        program(name, "move", [input_tensor], [out], True)
        top, bottom, left, right = padding
        fill = -1e30 if combine == "maximum" else 0.0

        def compute(x):
            x = x.reshaped([batch_size, input_h, input_w, channels])
            x = arrays.padded(x, [0, top, left, 0], [0, bottom, right, 0], fill)
            made = None
            for i in range(kernel[0]):
                for j in range(kernel[1]):
                    seen = _window(x, i, j, rows, columns, stride, dilation)
                    made = seen if made is None else arrays.binary(combine, made, seen)
            if combine == "add":
                count = divisor_override or kernel[0] * kernel[1]
                made = arrays.binary("divide", made, arrays.full([], float(count), False))
            return made.reshaped([1, 1, batch_size * rows * columns, channels])

        values(compute, [input_tensor], [out])
        return out

    return call


max_pool2d = _pool("max_pool2d", "maximum")
avg_pool2d = _pool("avg_pool2d", "add")


@operation()
def global_avg_pool2d(input_tensor, *, memory_config=None, dtype=None):
    """Averages [n, h, w, c] to [n, 1, 1, c]."""
    n, h, w, c = list(input_tensor._shape)
    require_device("global_avg_pool2d", input_tensor)
    out = make_output([n, 1, 1, c], input_tensor, dtype, None, memory_config)
    program("global_avg_pool2d", "move", [input_tensor], [out], True)
    values(lambda x: arrays.reduce("mean", x, [1, 2], True), [input_tensor], [out])
    return out


@operation()
def upsample(input_tensor, scale_factor, *, mode="nearest", memory_config=None,
             compute_kernel_config=None):
    """Returns [n, h, w, c] with each place repeated."""
    n, h, w, c = list(input_tensor._shape)
    down, across = _pair(scale_factor)
    require_device("upsample", input_tensor)
    out = make_output([n, h * down, w * across, c], input_tensor, None, None, memory_config)
    program("upsample", "move", [input_tensor], [out], True)

    def compute(x):
        wide = arrays.broadcast_to(x.reshaped([n, h, 1, w, 1, c]), [n, h, down, w, across, c])
        return wide.reshaped([n, h * down, w * across, c])

    values(compute, [input_tensor], [out])
    return out


__all__ = ["Tensor"]
