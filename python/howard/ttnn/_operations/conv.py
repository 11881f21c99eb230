# SPDX-License-Identifier: Apache-2.0
"""Implements convolutions, in the chip's order of images: [1, 1, n h w, c]."""


from .. import _arrays as arrays
from .._arrays import apply, np
from .._configs import activation_of
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import device_tensor
from .._types import Layout
from .core import to_device
from .layout import to_layout


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
    return x[:, top:top + (rows - 1) * stride[0] + 1:stride[0],
             left:left + (columns - 1) * stride[1] + 1:stride[1]]


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
                seen = seen[..., group * per_group:(group + 1) * per_group]
                part = out // groups
                matrix = weight[group * part:(group + 1) * part, :, i, j].T
                term = arrays.matmul(seen.reshape([x.shape[0] * rows * columns, per_group]), matrix)
                total = term if total is None else total + term
        made.append(total)
    return np.concatenate(made, 1)


@operation()
def conv2d(*, input_tensor, weight_tensor, in_channels, out_channels, device=None, bias_tensor=None,
           kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), batch_size, input_height,
           input_width, conv_config=None, compute_config=None, groups=1, memory_config=None,
           slice_config=None, conv_op_cache=None, debug=False, return_output_dim=False,
           return_weights_and_bias=False, dtype=None, mirror_kernel=None):
    """Computes a product of each place's window with the weights; it is timed as that product, by
    analogy."""
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
        made = _convolved(x.reshape(shape), w.reshape(weights), stride, padding, dilation, groups,
                          (rows, columns))
        if b is not None:
            made = made + b.reshape([out_channels])
        if activation is not None:
            made = apply(activation[0], made, numbers=activation[1])
        return made.reshape([1, 1, places, out_channels])

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


@operation()
def conv_transpose2d(*, input_tensor, weight_tensor, in_channels, out_channels, device=None,
                     bias_tensor=None, kernel_size, stride=(1, 1), padding=(0, 0),
                     output_padding=(0, 0), dilation=(1, 1), batch_size, input_height, input_width,
                     conv_config=None, compute_config=None, groups=1, mirror_kernel=True,
                     memory_config=None, return_output_dim=False, return_weights_and_bias=False,
                     dtype=None, **_):
    """Computes a convolution of the image with zeros between its places; it is timed as that
    product."""
    kernel, stride, dilation = _pair(kernel_size), _pair(stride), _pair(dilation)
    top, bottom, left, right = _paddings(padding)
    extra = _pair(output_padding)
    device = device or input_tensor._device
    input_tensor, weight, bias = (
        one if one is None or one._device else to_device.function(one, device)
        for one in (input_tensor, weight_tensor, bias_tensor))
    require_device("conv_transpose2d", input_tensor, weight)
    rows = (input_height - 1) * stride[0] - top - bottom + dilation[0] * (kernel[0] - 1) + extra[
        0] + 1
    columns = (input_width - 1) * stride[1] - left - right + dilation[1] * (
        kernel[1] - 1) + extra[1] + 1
    places = batch_size * rows * columns
    out = make_output([1, 1, places, out_channels], input_tensor, dtype, Layout.TILE, memory_config)
    inner = in_channels // groups * kernel[0] * kernel[1]
    program("halo", "move", [input_tensor], [input_tensor], True)
    window = device_tensor([1, 1, places, inner], out._dtype, Layout.TILE, None, out._device)
    matrix = device_tensor([1, 1, inner, out_channels], out._dtype, Layout.TILE, None, out._device)
    program("conv_transpose2d", "matmul", [window, matrix], [out], True)
    edges = [dilation[0] * (kernel[0] - 1) - top, dilation[0] * (kernel[0] - 1) - bottom + extra[0],
             dilation[1] * (kernel[1] - 1) - left, dilation[1] * (kernel[1] - 1) - right + extra[1]]
    if any(e < 0 for e in edges):
        fail("conv_transpose2d", "a padding larger than the kernel is not supported")

    def compute(x, w, b=None):
        made = _convolved(_dilated(x, [batch_size, input_height, input_width, in_channels], stride),
                          _mirrored(w, in_channels, out_channels, groups, kernel), (1, 1), edges,
                          dilation, groups, (rows, columns))
        if b is not None:
            made = made + b.reshape([out_channels])
        return made.reshape([1, 1, places, out_channels])

    values(compute, [input_tensor, weight] + ([bias] if bias is not None else []), [out])
    answer = [out]
    if return_output_dim:
        answer.append([rows, columns])
    if return_weights_and_bias:
        answer.append([weight, bias])
    return answer[0] if len(answer) == 1 else tuple(answer)


def _dilated(x, shape, stride):
    """Returns the image with zeros between its places."""
    n, h, w, c = shape
    made = np.zeros([n, (h - 1) * stride[0] + 1, (w - 1) * stride[1] + 1, c], np.float32)
    made[:, ::stride[0], ::stride[1]] = x.reshape(shape)
    return made


def _mirrored(weight, in_channels, out_channels, groups, kernel):
    """Returns [in, out / groups, kh, kw] as the weights of a convolution: [out, in / groups, kh,
    kw], turned by half a circle."""
    per_in, per_out = in_channels // groups, out_channels // groups
    wide = weight.reshape([groups, per_in, per_out, kernel[0], kernel[1]])
    swapped = wide.transpose([0, 2, 1, 3, 4]).reshape([out_channels, per_in, *kernel])
    return swapped[:, :, ::-1, ::-1]


prepare_conv_transpose2d_weights = prepare_conv_weights
prepare_conv_transpose2d_bias = prepare_conv_bias
