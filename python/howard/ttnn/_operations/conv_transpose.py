# SPDX-License-Identifier: Apache-2.0
"""Holds transposed convolutions: those of images with zeros between their places."""

from .._arrays import apply, np
from .._configs import activation_of
from .._launch import fail, operation, require_device, values
from .._tensor import device_tensor
from .._types import BufferType, DataType, Layout
from .._windows import Window, pair, paddings, require_images, shards_for
from .conv import (
    Layer,
    answer_of,
    bias_of,
    convolved,
    dense,
    launch,
    padded_images,
    prepare_conv_bias,
    prepared,
    require_channels,
    weights_dtype,
)
from .core import to_device
from .layout import to_memory_config


@operation()
def conv_transpose2d(*, input_tensor, weight_tensor, in_channels, out_channels, device=None,
                     bias_tensor=None, kernel_size, stride=(1, 1), padding=(0, 0),
                     output_padding=(0, 0), dilation=(1, 1), batch_size, input_height, input_width,
                     conv_config=None, compute_config=None, groups=1, mirror_kernel=True,
                     memory_config=None, dram_slice_config=None, return_output_dim=False,
                     return_weights_and_bias=False, dtype=None):
    """Computes a convolution of the image with zeros between its places."""
    name = "conv_transpose2d"
    groups = groups or 1
    require_channels(name, in_channels, out_channels, groups)
    kernel, stride, dilation = pair(kernel_size), pair(stride), pair(dilation)
    top, bottom, left, right = paddings(padding)
    extra = pair(output_padding)
    device = device or input_tensor._device
    if input_tensor._device is None:
        input_tensor = to_device.function(input_tensor, device)
    require_device(name, input_tensor)
    wide = [(input_height - 1) * stride[0] + 1, (input_width - 1) * stride[1] + 1]
    reach = [dilation[0] * (kernel[0] - 1), dilation[1] * (kernel[1] - 1)]
    edges = [reach[0] - top, reach[0] - bottom + extra[0], reach[1] - left,
             reach[1] - right + extra[1]]
    if min(edges) < 0:
        fail(name, f"padding={padding} is larger than the kernel {list(kernel)}")
    window = Window(name, batch_size, *wide, kernel, 1, edges, dilation)
    require_images(name, input_tensor, Window(name, batch_size, input_height, input_width, 1, 1, 0),
                   in_channels)
    own = weights_dtype(conv_config)
    shape = [1, 1, kernel[0] * kernel[1] * in_channels, out_channels]
    weight = prepared(name, weight_tensor, device, own or weight_tensor._dtype, shape,
                       lambda w: dense(_turned(w, in_channels, out_channels, groups, kernel,
                                                mirror_kernel), groups).reshape(shape))
    bias = bias_of(name, bias_tensor, device, own, out_channels)
    layer = Layer(name, window, in_channels, out_channels, conv_config, compute_config, bias,
                   dtype or getattr(conv_config, "dtype", None) or input_tensor._dtype)
    # The halo writes the zeros: it is timed as that of an image that has them already, in the
    # shards of the image if that is in L1.
    config = None
    if input_tensor._config.buffer_type is BufferType.L1:
        parallel, _ = layer.choose(input_tensor, device.core_grid)
        shards_for(input_tensor, parallel, batch_size * input_height * input_width,
                   input_tensor._shape[-1])
        config = parallel.config(window.places_in, in_channels, Layout.ROW_MAJOR)
    exact = input_tensor._dtype is DataType.FLOAT32
    spread = device_tensor([1, 1, window.places_in, in_channels],
                           DataType.FLOAT32 if exact else DataType.BFLOAT16, Layout.ROW_MAJOR,
                           config, device, topology=input_tensor._topology)
    out = launch(layer, spread, weight, bias, dram_slice_config)
    activation = activation_of(getattr(conv_config, "activation", None))

    def compute(x, w, b=None):
        image = _dilated(x, [batch_size, input_height, input_width, in_channels], stride)
        made = convolved(padded_images(image, window, in_channels, 0.0),
                          w.reshape([*kernel, in_channels, out_channels]), window, groups)
        if b is not None:
            made = made + b.reshape([out_channels])
        if activation is not None:
            made = apply(activation[0], made, numbers=activation[1])
        return made.reshape([1, 1, window.places_out, out_channels])

    values(compute, [input_tensor, weight] + ([bias] if bias is not None else []), [out])
    if memory_config is not None:
        out = to_memory_config.function(out, memory_config)
    return answer_of(out, window, weight, bias, return_output_dim, return_weights_and_bias)


def _dilated(x, shape, stride):
    """Returns the image with zeros between its places."""
    n, h, w, c = shape
    made = np.zeros([n, (h - 1) * stride[0] + 1, (w - 1) * stride[1] + 1, c], np.float32)
    made[:, ::stride[0], ::stride[1]] = x.reshape([n, h, w, x.size // (n * h * w)])[..., :c]
    return made


def _turned(weight, in_channels, out_channels, groups, kernel, mirrored):
    """Returns [in, out / groups, kh, kw] as the weights of a convolution: [out, in / groups, kh,
    kw], turned by half a circle unless the caller has done that."""
    per_in, per_out = in_channels // groups, out_channels // groups
    wide = weight.reshape([groups, per_in, per_out, kernel[0], kernel[1]])
    swapped = wide.transpose([0, 2, 1, 3, 4]).reshape([out_channels, per_in, *kernel])
    return swapped[:, :, ::-1, ::-1] if mirrored else swapped


@operation(unread="input_memory_config input_layout batch_size input_height input_width stride "
                  "padding dilation has_bias input_dtype output_dtype compute_config slice_config "
                  "dram_slice_config output_padding")
def prepare_conv_transpose2d_weights(*, weight_tensor, weights_format="IOHW", in_channels,
                                     out_channels, kernel_size, device=None, groups=1,
                                     conv_config=None, mirror_kernel=True):
    """Returns the weights as a transposed convolution takes them."""
    name = "prepare_conv_transpose2d_weights"
    if weights_format != "IOHW":
        fail(name, f"weights_format={weights_format!r}: only 'IOHW' is supported")
    kernel, groups = pair(kernel_size), groups or 1
    shape = [1, 1, kernel[0] * kernel[1] * in_channels, out_channels]
    return prepared(name, weight_tensor, device,
                     weights_dtype(conv_config) or weight_tensor._dtype, shape,
                     lambda w: dense(_turned(w, in_channels, out_channels, groups, kernel,
                                              mirror_kernel), groups).reshape(shape))


prepare_conv_transpose2d_bias = prepare_conv_bias
