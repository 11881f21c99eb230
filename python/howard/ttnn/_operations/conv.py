# SPDX-License-Identifier: Apache-2.0
"""Implements convolutions, in the chip's order of images: [1, 1, n h w, c]."""

from .. import _arrays as arrays
from .._arrays import apply, np
from .._configs import activation_of
from .._launch import fail, operation, program, require_device, steps_of, values
from .._memory import DRAM_MEMORY_CONFIG
from .._tensor import device_tensor, host_tensor
from .._types import BufferType, Layout, MathFidelity, TensorMemoryLayout
from .._windows import (
    L1_OF_A_CORE,
    Parallel,
    Window,
    pair,
    require_images,
    shards_for,
    with_halo,
)
from .core import to_device
from .layout import to_layout, to_memory_config


def get_conv_output_dim(size, window, stride=1, pad=0, dilation=1):
    return (size + 2 * pad - dilation * (window - 1) - 1) // stride + 1


def seen_at(x, i, j, window):
    """Returns what one place of the window sees of the padded images: [n, rows, columns, c]."""
    top, left = i * window.dilation[0], j * window.dilation[1]
    return x[:, top:top + (window.rows - 1) * window.stride[0] + 1:window.stride[0],
             left:left + (window.columns - 1) * window.stride[1] + 1:window.stride[1]]


def padded_images(x, window, channels, fill):
    """Returns images as [n, h, w, c] with what the window sees around them."""
    top, bottom, left, right = window.padding
    x = x.reshape([window.batch, window.height, window.width, x.size // window.places_in])
    return arrays.padded(x[..., :channels], [0, top, left, 0],
                         [0, bottom + window.beyond[0], right + window.beyond[1], 0], fill)


def convolved(x, weight, window, groups):
    """Convolves x [n, h, w, c], padded, with weights [kh, kw, c, out], which are 0 between
    groups."""
    kh, kw, channels, out = weight.shape
    per_group, part = channels // groups, out // groups
    made = []
    for group in range(groups):
        total = None
        for i in range(kh):
            for j in range(kw):
                seen = seen_at(x, i, j, window)[..., group * per_group:(group + 1) * per_group]
                matrix = weight[i, j, group * per_group:(group + 1) * per_group,
                                group * part:(group + 1) * part]
                term = arrays.matmul(seen.reshape([window.places_out, per_group]), matrix)
                total = term if total is None else total + term
        made.append(total)
    return np.concatenate(made, 1)


# Weights. ttnn prepares them on the host: a row for each place of the window and channel, zeros
# between groups, in tiles.


def dense(weight, groups):
    """Returns [out, c / groups, kh, kw] as [kh, kw, c, out]."""
    out, per_group, kh, kw = weight.shape
    part = out // groups
    if groups == 1:
        return weight.transpose([2, 3, 1, 0])
    dense = np.zeros([kh, kw, per_group * groups, out], np.float32)
    for group in range(groups):
        rows = slice(group * per_group, (group + 1) * per_group)
        columns = slice(group * part, (group + 1) * part)
        dense[:, :, rows, columns] = weight[columns].transpose([2, 3, 1, 0])
    return dense


def prepared(name, tensor, device, dtype, shape, arrange):
    """Returns weights as rows of `shape` on the device; those that are so already stay."""
    if tensor._device is not None and list(tensor._shape) == shape:
        return tensor
    given = tensor if tensor._device is None else tensor.cpu()
    if given._shape.volume() > shape[-1] * shape[-2]:
        fail(name, f"weights {list(tensor._shape)} do not fit the channels and the kernel: "
             f"{shape[-2]}x{shape[-1]}")
    shards = [arrange(one) for one in given.shards()]
    made = host_tensor(shards, dtype, Layout.TILE, shape, given._topology)
    return made if device is None else to_device.function(made, device)


def _weights(name, tensor, device, dtype, window, channels, out_channels, groups):
    kh, kw = window
    shape = [1, 1, kh * kw * channels, out_channels]
    if tensor._device is None or list(tensor._shape) != shape:
        wanted = [out_channels, channels // groups, kh, kw]
        if list(tensor._shape) != wanted and tensor._shape.volume() != _volume(wanted):
            fail(name, f"weights {list(tensor._shape)} are not [out_channels, in_channels / groups,"
                 f" height, width] = {wanted}")
    per_group = [out_channels, channels // groups, kh, kw]
    return prepared(name, tensor, device, dtype or tensor._dtype, shape,
                     lambda w: dense(w.reshape(per_group), groups).reshape(shape))


def _volume(shape):
    product = 1
    for one in shape:
        product *= one
    return product


def bias_of(name, tensor, device, dtype, out_channels):
    if tensor is None:
        return None
    shape = [1, 1, 1, out_channels]
    if tensor._shape.volume() != out_channels:
        fail(name, f"a bias {list(tensor._shape)} does not have {out_channels} numbers")
    return prepared(name, tensor, device, dtype or tensor._dtype, shape,
                     lambda b: b.reshape(shape))


def weights_dtype(conv_config):
    return getattr(conv_config, "weights_dtype", None)


@operation(unread="input_memory_config input_layout batch_size input_height input_width stride "
                  "padding dilation has_bias input_dtype output_dtype compute_config slice_config")
def prepare_conv_weights(*, weight_tensor, weights_format="OIHW", in_channels, out_channels,
                         kernel_size, device=None, groups=1, conv_config=None):
    """Returns the weights as a convolution takes them, on the device if there is one."""
    if weights_format != "OIHW":
        fail("prepare_conv_weights", f"weights_format={weights_format!r}: only 'OIHW' is supported")
    return _weights("prepare_conv_weights", weight_tensor, device, weights_dtype(conv_config),
                    pair(kernel_size), in_channels, out_channels, groups or 1)


@operation(unread="input_memory_config input_layout batch_size input_height input_width stride "
                  "padding dilation has_bias input_dtype output_dtype compute_config slice_config "
                  "dram_slice_config in_channels kernel_size groups weights_format")
def prepare_conv_bias(*, bias_tensor, out_channels=None, device=None, conv_config=None):
    """Returns the bias as a convolution takes it, on the device if there is one."""
    return bias_of("prepare_conv_bias", bias_tensor, device, weights_dtype(conv_config),
                 out_channels or bias_tensor._shape.volume())


# How a convolution is dealt out.


class Layer:
    """Holds what a convolution is besides its operands."""

    def __init__(self, name, window, channels, out_channels, conv_config, compute_config, bias,
                 dtype):
        self.name, self.window = name, window
        self.channels, self.out_channels = channels, out_channels
        self.config, self.compute, self.bias, self.dtype = conv_config, compute_config, bias, dtype

    def told(self, word, otherwise=None):
        return getattr(self.config, word, otherwise)

    def attributes(self):
        attributes = {}
        compute = self.compute
        if compute is not None:
            if compute.math_fidelity is not MathFidelity.Invalid:
                attributes["fidelity"] = compute.math_fidelity.name
            if compute.fp32_dest_acc_en:
                attributes["fp32_accumulation"] = True
            if compute.packer_l1_acc:
                attributes["packer_accumulates"] = True
        activation = activation_of(self.told("activation"))
        if activation is not None:
            attributes["activation"] = steps_of([activation[0]])[0][0]
        for word, field in (("enable_act_double_buffer", "double_buffers_x"),
                            ("enable_weights_double_buffer", "double_buffers_weights"),
                            ("enable_activation_reuse", "reuses_x"),
                            ("full_inner_dim", "full_inner_dim")):
            if self.told(word):
                attributes[field] = True
        if self.told("act_block_h_override"):
            attributes["act_block_h"] = -(-self.told("act_block_h_override") // 32)
        return attributes

    def l1_bytes(self, parallel, window):
        """Estimates what a core needs: the images with their halo, a block of windows in rows and
        in tiles, a block of weights, and the result."""
        kh, kw = window.kernel
        rows, columns = parallel.shard(window.places_out, self.out_channels, Layout.TILE)
        own = -(-window.places_in // parallel.cores) + (kh - 1) * window.width
        channels = -(-self.channels // parallel.channel_cores)
        override = self.told("act_block_h_override") or 0
        block = min(rows, override) if override else rows
        blocks = 2 if self.told("enable_act_double_buffer") else 1
        weights = 2 if self.told("enable_weights_double_buffer") else 1
        return (own * channels * 2 + (blocks + 1) * block * kw * max(channels, 8) * 2
                + weights * kw * channels * columns * 2 + 2 * rows * columns * 2)

    def choose(self, tensor, grid):
        """Returns how ttnn deals it out, and in how many slices of rows if it does not fit L1."""
        window = self.window
        config = tensor._config
        asked = self.told("shard_layout")
        sharded = config.is_sharded() and config.shard_spec is not None
        if sharded and not self.told("reshard_if_not_optimal"):
            return Parallel.of(config, grid), 1  # Whatever layout is asked for, as in ttnn.
        given = self.told("core_grid")
        layouts = [asked] if asked is not None else [TensorMemoryLayout.HEIGHT_SHARDED,
                                                     TensorMemoryLayout.BLOCK_SHARDED,
                                                     TensorMemoryLayout.WIDTH_SHARDED]
        slices = 1
        while True:
            part = window.part(slices) if slices > 1 else window
            found = [Parallel.choose(one, part.places_out, self.channels, self.out_channels, grid)
                     for one in layouts]
            if given is not None and self.told("override_sharding_config"):
                cores = given.num_cores() if hasattr(given, "num_cores") and callable(
                    given.num_cores) else given.num_cores
                found[0].cores = cores // found[0].channel_cores
            best = min(found, key=lambda one: self.l1_bytes(one, part))
            if self.l1_bytes(best, part) <= L1_OF_A_CORE or slices >= window.rows or \
                    config.buffer_type is not BufferType.DRAM:
                return best, slices
            slices += 1


def _asked_slices(slice_config):
    """Returns how many slices the caller wants; None where ttnn chooses, and 1 to stay in L1."""
    kind = getattr(slice_config, "slice_type", None)
    if kind is None:
        return None
    count = getattr(slice_config, "num_slices", 0)
    return 1 if kind == "L1_FULL" else count or None


def launch(layer, tensor, weight, bias, slice_config):
    """Launches the programs of a convolution, and returns its result."""
    window, name = layer.window, layer.name
    grid = tensor._device.core_grid
    channels = tensor._shape[-1]
    parallel, slices = layer.choose(tensor, grid)
    asked = _asked_slices(slice_config)
    slices = asked or slices
    if window.is_pointwise() and parallel.layout is not TensorMemoryLayout.WIDTH_SHARDED and \
            slices == 1:
        return _launch_product(layer, tensor, weight, bias, parallel)
    shape = [1, 1, window.places_out, layer.out_channels]
    operands = [weight] + ([bias] if bias is not None else [])
    attributes = dict(layer.attributes(), sharding=parallel.sharding(), **parallel.attributes())
    if slices > 1:
        out = device_tensor(shape, layer.dtype, Layout.ROW_MAJOR, DRAM_MEMORY_CONFIG,
                            tensor._device, topology=tensor._topology)
        part = window.part(slices)
        for _ in range(slices):
            inner = device_tensor([1, 1, part.places_in, channels], tensor._dtype, tensor._layout,
                                  parallel.config(part.places_in, channels, tensor._layout),
                                  tensor._device)
            program("padded_slice", "move", [tensor], [inner], True)
            halo = with_halo(inner, part, parallel, channels)
            made = device_tensor([1, 1, part.places_out, layer.out_channels], layer.dtype,
                                 Layout.ROW_MAJOR,
                                 parallel.config(part.places_out, layer.out_channels,
                                                 Layout.ROW_MAJOR), tensor._device)
            program(name, "conv2d", [halo, *operands], [made], **part.attributes(), **attributes)
            program("slice_write", "move", [made], [out], True)
        return to_layout.function(out, Layout.TILE)
    tensor = shards_for(tensor, parallel, window.places_in, channels)
    halo = with_halo(tensor, window, parallel, channels, layer.told("deallocate_activation")
                     and layer.told("reallocate_halo_output"))
    out = device_tensor(shape, layer.dtype, Layout.TILE,
                        parallel.config(window.places_out, layer.out_channels, Layout.TILE),
                        tensor._device, topology=tensor._topology)
    program(name, "conv2d", [halo, *operands], [out], **window.attributes(), **attributes)
    return out


def _launch_product(layer, tensor, weight, bias, parallel):
    """Launches a convolution that sees nothing but each place itself, as a product of matrices."""
    places, channels = layer.window.places_in, tensor._shape[-1]
    if tensor._layout is not Layout.TILE:
        tensor = to_layout.function(tensor, Layout.TILE)
    if tensor._config.buffer_type is BufferType.L1 or layer.told("shard_layout") is not None:
        tensor = shards_for(tensor, parallel, places, channels)
    own = layer.attributes()
    attributes = {word: own[word] for word in ("fidelity", "fp32_accumulation", "activation")
                  if word in own}
    attributes["packer_accumulates"] = int(own.get("packer_accumulates", False))
    config = tensor._config
    if config.is_sharded():
        config = parallel.config(places, layer.out_channels, Layout.TILE)
        attributes["config"] = _product_config(layer, parallel, places, channels)
    out = device_tensor([1, 1, places, layer.out_channels], layer.dtype, Layout.TILE, config,
                        tensor._device, topology=tensor._topology)
    inputs = [tensor, weight] + ([bias] if bias is not None else [])
    shapes = [[1, 1, places, channels], list(weight._shape), [1, layer.out_channels]]
    program(layer.name, "matmul", inputs, [out], shapes=shapes[:len(inputs)], **attributes)
    return out


def _product_config(layer, parallel, places, channels):
    """Returns the program configuration that ttnn makes of the shards: every core has whole sums,
    or parts of them come along its row."""
    rows, columns = (one // 32 for one in parallel.shard(places, layer.out_channels, Layout.TILE))
    inner = -(-channels // 32)
    most = 4 if getattr(layer.compute, "fp32_dest_acc_en", False) else 8
    width = max(w for w in range(1, most + 1) if columns % w == 0)
    height = max(h for h in range(1, most // width + 1) if rows % h == 0) if width == columns else 1
    if parallel.layout is TensorMemoryLayout.HEIGHT_SHARDED:
        kind, grid = "1d_in1", (parallel.grid.x, parallel.grid.y)
    else:
        kind, grid = "2d", (parallel.channel_cores, parallel.cores)
        inner = -(-inner // parallel.channel_cores)
    return (f"{kind}:grid={grid[0]}x{grid[1]}:per_core={rows}x{columns}:in0_block_w={inner}"
            f":out_subblock={height}x{width}")


def answer_of(out, window, weight, bias, return_output_dim, return_weights_and_bias):
    answer = [out]
    if return_output_dim:
        answer.append([window.rows, window.columns])
    if return_weights_and_bias:
        answer.append([weight, bias])
    return answer[0] if len(answer) == 1 else tuple(answer)


def require_channels(name, in_channels, out_channels, groups):
    if groups < 1 or in_channels % groups or out_channels % groups:
        fail(name, f"in_channels={in_channels} and out_channels={out_channels} must be multiples of"
             f" groups={groups}")


@operation(unread="conv_op_cache debug")
def conv2d(*, input_tensor, weight_tensor, in_channels, out_channels, device=None, bias_tensor=None,
           kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), batch_size, input_height,
           input_width, conv_config=None, compute_config=None, groups=1, memory_config=None,
           slice_config=None, return_output_dim=False, return_weights_and_bias=False, dtype=None):
    """Computes a product of what each stop of the window sees with the weights: a halo brings rows
    to the cores, and another program multiplies. A window of one place is a product of matrices."""
    groups = groups or 1
    require_channels("conv2d", in_channels, out_channels, groups)
    window = Window("conv2d", batch_size, input_height, input_width, kernel_size, stride, padding,
                    dilation)
    device = device or input_tensor._device
    if input_tensor._device is None:
        input_tensor = to_device.function(input_tensor, device)
    require_device("conv2d", input_tensor)
    channels = require_images("conv2d", input_tensor, window, in_channels)
    own = weights_dtype(conv_config)
    weight = _weights("conv2d", weight_tensor, device, own, window.kernel, in_channels,
                      out_channels, groups)
    bias = bias_of("conv2d", bias_tensor, device, own, out_channels)
    layer = Layer("conv2d", window, channels, out_channels, conv_config, compute_config, bias,
                   dtype or getattr(conv_config, "dtype", None) or input_tensor._dtype)
    out = launch(layer, input_tensor, weight, bias, slice_config)
    activation = activation_of(getattr(conv_config, "activation", None))

    def compute(x, w, b=None):
        made = convolved(padded_images(x, window, in_channels, 0.0),
                          w.reshape([*window.kernel, in_channels, out_channels]), window, groups)
        if b is not None:
            made = made + b.reshape([out_channels])
        if activation is not None:
            made = apply(activation[0], made, numbers=activation[1])
        return made.reshape([1, 1, window.places_out, out_channels])

    values(compute, [input_tensor, weight] + ([bias] if bias is not None else []), [out])
    if getattr(conv_config, "output_layout", None) is Layout.ROW_MAJOR and \
            out._layout is not Layout.ROW_MAJOR:
        out = to_layout.function(out, Layout.ROW_MAJOR)
    if getattr(conv_config, "deallocate_activation", False) and \
            input_tensor._config.buffer_type is BufferType.L1:
        input_tensor._storage.release()
    if memory_config is not None:
        out = to_memory_config.function(out, memory_config)
    return answer_of(out, window, weight, bias, return_output_dim, return_weights_and_bias)


@operation()
def conv1d(*, input_tensor, weight_tensor, in_channels, out_channels, device=None, bias_tensor=None,
           kernel_size, stride=1, padding=0, dilation=1, batch_size, input_length, groups=1,
           return_output_dim=False, return_weights_and_bias=False, **kwargs):
    """Computes a convolution of images that are one row high."""
    sides = (0, padding) if isinstance(padding, int) else (0, 0, *padding)
    made = conv2d.function(
        input_tensor=input_tensor, weight_tensor=weight_tensor, in_channels=in_channels,
        out_channels=out_channels, device=device, bias_tensor=bias_tensor,
        kernel_size=(1, kernel_size), stride=(1, stride), padding=sides,
        dilation=(1, dilation), batch_size=batch_size, input_height=1, input_width=input_length,
        groups=groups, return_output_dim=True, return_weights_and_bias=True, **kwargs)
    answer = [made[0]]
    if return_output_dim:
        answer.append(made[1][1])
    if return_weights_and_bias:
        answer.append(made[2])
    return answer[0] if len(answer) == 1 else tuple(answer)
