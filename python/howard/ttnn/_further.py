# SPDX-License-Identifier: Apache-2.0
"""Implements ops of few scripts: images, quantised numbers, parts of shards, chunks of attention,
moreh's rest."""

import math

from howard import _native

from ._backward import V
from ._conv import _convolved, _pair, _paddings
from ._create import to_device
from ._launch import fail, make_output, operation, program, require_device, values
from ._moreh import _both
from ._movement import _axis, _moved, interleaved_to_sharded, slice_, to_memory_config
from ._tensor import device_tensor
from ._transformer import (
    _attention_attributes,
    _paged,
    _until,
    attention,
    nlp_create_qkv_heads,
    rotary_embedding_llama,
)
from ._types import DRAM_MEMORY_CONFIG, DataType, Layout

arrays = _native._ttnn.arrays


# Images.


@operation()
def fold(input, stride_h, stride_w, *, use_transpose_as_fold=False, output_shape=None, pad_c=0,
         pad_h=0, pad_w=0, grid_size=None, override_memory_config=None, padding=None,
         memory_config=None):
    """Folds [n, h, w, c] to [1, 1, n h/s w/t, s t c]: the places of each window lie side by
    side."""
    n, h, w, c = list(input._shape)
    if h % stride_h or w % stride_w:
        fail("fold", f"height {h} and width {w} must be multiples of {stride_h} and {stride_w}")
    rows, columns = h // stride_h, w // stride_w
    shape = [1, 1, n * rows * columns, stride_h * stride_w * c]

    def compute(x):
        windows = x.reshaped([n, rows, stride_h, columns, stride_w, c])
        return arrays.permuted(windows, [0, 1, 3, 2, 4, 5]).reshaped(shape)

    return _moved("fold", [input], shape, compute, override_memory_config or memory_config)


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
        made = _convolved(_spread(x, [batch_size, input_height, input_width, in_channels], stride),
                          _mirrored(w, in_channels, out_channels, groups, kernel), (1, 1), edges,
                          dilation, groups, (rows, columns))
        if b is not None:
            made = arrays.binary("add", made, b.reshaped([out_channels]))
        return made.reshaped([1, 1, places, out_channels])

    values(compute, [input_tensor, weight] + ([bias] if bias is not None else []), [out])
    answer = [out]
    if return_output_dim:
        answer.append([rows, columns])
    if return_weights_and_bias:
        answer.append([weight, bias])
    return answer[0] if len(answer) == 1 else tuple(answer)


def _spread(x, shape, stride):
    """Returns the image with zeros between its places."""
    n, h, w, c = shape
    wide = arrays.padded(x.reshaped([n, h, 1, w, 1, c]), [0] * 6,
                         [0, 0, stride[0] - 1, 0, stride[1] - 1, 0], 0.0)
    full = wide.reshaped([n, h * stride[0], w * stride[1], c])
    return arrays.sliced(full, [0] * 4,
                         [n, (h - 1) * stride[0] + 1, (w - 1) * stride[1] + 1, c], [1] * 4)


def _mirrored(weight, in_channels, out_channels, groups, kernel):
    """Returns [in, out / groups, kh, kw] as the weights of a convolution: [out, in / groups, kh,
    kw], turned by half a circle."""
    per_in, per_out = in_channels // groups, out_channels // groups
    wide = weight.reshaped([groups, per_in, per_out, kernel[0], kernel[1]])
    swapped = arrays.permuted(wide, [0, 2, 1, 3, 4]).reshaped([out_channels, per_in, *kernel])
    for axis in (2, 3):
        parts = []
        for i in reversed(range(swapped.shape[axis])):
            starts, ends = [0] * 4, list(swapped.shape)
            starts[axis], ends[axis] = i, i + 1
            parts.append(arrays.sliced(swapped, starts, ends, [1] * 4))
        swapped = arrays.concatenated(parts, axis)
    return swapped


# Whole numbers for real ones.


def _number_of(value, array):
    return V(array) if array is not None else V(float(value))


def _quantization(name, function):
    @operation(name)
    def call(input_tensor, *scales, axis=None, dtype=None, memory_config=None, output_tensor=None,
             **named):
        """Launches one program with a scale and a zero point, each of which is one number or a
        tensor."""
        words = ("in_scale", "in_zero_point", "out_scale", "out_zero_point") if len(
            scales) + len(named) > 2 else ("scale", "zero_point")
        given = list(scales) + [named[w] for w in words[len(scales):]]
        tensors = [g for g in given if hasattr(g, "_shape")]
        require_device(name, input_tensor, *tensors)
        kind = dtype or (DataType.BFLOAT16 if name == "dequantize" else DataType.INT32)
        out = make_output(input_tensor._shape, input_tensor, kind, None, memory_config,
                          output_tensor)
        program(name, "multiply", [input_tensor], [out], True, scalar=1)

        def compute(x, *rest):
            rest = list(rest)
            numbers = []
            for one in given:
                array = rest.pop(0) if hasattr(one, "_shape") else None
                if array is not None and axis is not None and array.size > 1:
                    dims = [1] * len(x.shape)
                    dims[axis] = array.size
                    array = array.reshaped(dims)
                numbers.append(_number_of(one, array))
            return function(V(x), *numbers).a

        values(compute, [input_tensor] + tensors, [out])
        return out

    return call


quantize = _quantization("quantize", lambda x, s, z: (x / s + z).f("round", 0))
dequantize = _quantization("dequantize", lambda x, s, z: (x - z) * s)
requantize = _quantization("requantize",
                           lambda x, s, z, t, y: ((x - z) * s / t + y).f("round", 0))


# Places and parts.


@operation()
def nonzero(input_tensor, *, memory_config=None):
    """Returns how many elements are not zero, and where these are among all."""
    require_device("nonzero", input_tensor)
    shape = list(input_tensor._shape)
    count = make_output([1] * len(shape), input_tensor, DataType.UINT32, Layout.ROW_MAJOR,
                        memory_config)
    places = make_output(shape, input_tensor, DataType.UINT32, Layout.ROW_MAJOR, memory_config)
    program("nonzero", "move", [input_tensor], [count, places], True)

    def compute(x):
        found = [i for i in range(x.size) if x.at(i) != 0]
        filled = found + [0] * (x.size - len(found))
        from ._convert import array_of_list

        return [arrays.full([1] * len(shape), float(len(found)), True),
                array_of_list(filled)[0].reshaped(shape)]

    values(compute, [input_tensor], [count, places])
    return [count, places]


@operation()
def fill_ones_rm(n, c, h, w, h_fill, w_fill, any, *, memory_config=None):
    def compute(x):
        ones = arrays.full([n, c, h_fill, w_fill], 1.0, False)
        return arrays.padded(ones, [0] * 4, [0, 0, h - h_fill, w - w_fill], 0.0)

    return _moved("fill_ones_rm", [any], [n, c, h, w], compute, memory_config)


@operation()
def interleaved_to_sharded_partial(input_tensor, grid, shard_shape, num_slices, slice_index,
                                   shard_scheme, shard_orientation, *, output_dtype=None, **_):
    """Returns one of several slices of the rows, on the cores' shards."""
    rows = math.prod(list(input_tensor._shape)[:-1]) // num_slices
    flat = slice_.function(_flat(input_tensor), [0, 0, rows * slice_index, 0],
                           [1, 1, rows * (slice_index + 1), input_tensor._shape[-1]])
    return interleaved_to_sharded.function(flat, grid, shard_shape, shard_scheme, shard_orientation,
                                           output_dtype=output_dtype)


@operation()
def sharded_to_interleaved_partial(input_tensor, cache_tensor, num_slices, slice_index, *,
                                   memory_config=None, output_dtype=None, **_):
    """Writes the shards as one of several slices of the rows of another tensor, which is
    returned."""
    rows, width = math.prod(list(cache_tensor._shape)[:-1]), cache_tensor._shape[-1]
    dims, part = list(cache_tensor._shape), rows // num_slices
    moved = to_memory_config.function(input_tensor, memory_config or DRAM_MEMORY_CONFIG)

    def compute(whole, x):
        flat = whole.reshaped([rows, width])
        before = arrays.sliced(flat, [0, 0], [part * slice_index, width], [1, 1])
        after = arrays.sliced(flat, [part * (slice_index + 1), 0], [rows, width], [1, 1])
        parts = [p for p in (before, x.reshaped([part, width]), after) if p.size]
        return arrays.concatenated(parts, 0).reshaped(dims)

    values(compute, [cache_tensor, moved], [cache_tensor])
    return cache_tensor


def _flat(tensor):
    from ._movement import reshape

    return reshape.function(tensor, [1, 1, math.prod(list(tensor._shape)[:-1]), tensor._shape[-1]])


@operation()
def prelu_bw(grad, input, weight, *, memory_config=None):
    """Returns the gradients of the input and of the slope of each element."""
    require_device("prelu_bw", grad, input, weight)
    outs = [make_output(input._shape, input, None, None, memory_config) for _ in range(2)]
    for out in outs:
        program("prelu_bw", "multiply", [grad, input], [out])

    def compute(g, x, w):
        g, x, w = V(g), V(x), V(w)
        above = x > 0
        return [(g * (above + (x <= 0) * w)).a, (g * (x <= 0) * x).a]

    values(compute, [grad, input, weight], outs)
    return outs


# Attention.


@operation("transformer.chunked_scaled_dot_product_attention")
def chunked_scaled_dot_product_attention(input_tensor_q, input_tensor_k, input_tensor_v,
                                         page_table_tensor, chunk_start_idx, *, scale=None,
                                         memory_config=None, program_config=None,
                                         compute_kernel_config=None):
    """Computes attention of a chunk of queries from a place on, over the keys in pages up to its
    end."""
    name = "chunked_scaled_dot_product_attention"
    q = input_tensor_q
    require_device(name, q, input_tensor_k, input_tensor_v, page_table_tensor)
    end = chunk_start_idx + q._shape[2]
    out = make_output(q._shape, q, None, None, memory_config or DRAM_MEMORY_CONFIG)
    keys = [q._shape[0], input_tensor_k._shape[1], end, q._shape[3]]
    program(name, "attention", [q, input_tensor_k, input_tensor_v], [out],
            chunk_start_idx > 0, shapes=[None, keys, keys], causal=chunk_start_idx == 0,
            **_attention_attributes(program_config, compute_kernel_config))

    def compute(x, k, v, table):
        return attention(x, _until(_paged(k, table), end), _until(_paged(v, table), end), None, True,
                         scale)

    values(compute, [q, input_tensor_k, input_tensor_v, page_table_tensor], [out])
    return out


@operation("experimental.rotary_embedding_llama_fused_qk")
def rotary_embedding_llama_fused_qk(q_input_tensor, k_input_tensor, cos_cache, sin_cache, trans_mat,
                                    *, memory_config=None, compute_kernel_config=None):
    return tuple(rotary_embedding_llama.function(one, cos_cache, sin_cache, trans_mat,
                                                 is_decode_mode=True)
                 for one in (q_input_tensor, k_input_tensor))


def _fixed_heads(name, heads, kv_heads, transposes):
    @operation("experimental." + name)
    def call(input_tensor, kv_input_tensor=None, *, memory_config=None):
        return nlp_create_qkv_heads.function(
            input_tensor, kv_input_tensor, num_heads=heads, num_kv_heads=kv_heads,
            transpose_k_heads=transposes, memory_config=memory_config)

    return call


_fixed_heads("nlp_create_qkv_heads_falcon7b", 71, 1, False)
_fixed_heads("nlp_create_qkv_heads_vit", 12, 12, True)


@operation("experimental.attn_matmul")
def attn_matmul(input_tensor_a, input_tensor_b, *, compute_with_storage_grid_size=None,
                memory_config=None, dtype=None, compute_kernel_config=None):
    """Multiplies one query for each user: [1, h, b, k] by [b, h or 1, k, n] gives [1, h, b, n]."""
    name = "attn_matmul"
    require_device(name, input_tensor_a, input_tensor_b, tile=True)
    _one, heads, users, inner = list(input_tensor_a._shape)
    columns = input_tensor_b._shape[-1]
    out = make_output([1, heads, users, columns], input_tensor_a, dtype, None, memory_config)
    program(name, "matmul", [input_tensor_a, input_tensor_b], [out], True,
            shapes=[[1, users, heads, inner], [1, users, inner, columns]],
            out_shapes=[[1, users, heads, columns]])

    def compute(x, y):
        made = arrays.matmul(arrays.permuted(x, [2, 1, 0, 3]), y)
        return arrays.permuted(made, [2, 1, 0, 3])

    values(compute, [input_tensor_a, input_tensor_b], [out])
    return out


# moreh.


@_both("nll_loss")
def moreh_nll_loss(input_tensor, target_tensor, reduction="mean", *, weight_tensor=None,
                   divisor_tensor=None, output_tensor=None, ignore_index=-100, memory_config=None,
                   compute_kernel_config=None):
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
        kept = V(arrays.binary("ne", target, arrays.full([], float(ignore_index), True)))
        inside = arrays.unary("clamp", target, [0.0, float(classes - 1)])
        index = inside.reshaped([target.shape[0], 1, *target.shape[1:]])
        chosen = V(arrays.gathered(x, 1, index).reshaped(list(target.shape)))
        scale = kept
        if weight is not None:
            row = arrays.gathered(weight.reshaped([weight.size]), 0, inside.reshaped([target.size]))
            scale = scale * V(row.reshaped(list(target.shape)))
        losses = -(chosen * scale)
        if not whole:
            return losses.a
        dims = list(range(len(target.shape)))
        total = V(arrays.reduce("sum", losses.a, dims, False).reshaped([1]))
        if reduction == "sum":
            return total.a
        return (total / V(arrays.reduce("sum", scale.a, dims, False).reshaped([1]))).a

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
            place = V(place.reshaped([count]))
            flat = place if flat is None else flat * shape[d] + place
        rest = [1] * len(merged)
        rest[dims[0]] = count
        wide = arrays.broadcast_to(flat.a.reshaped(rest), out_shape)
        return arrays.gathered(x.reshaped(merged), dims[0], wide)

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
        flat = x.reshaped([n, num_groups, c // num_groups * h * w])
        made = V(arrays.normalized(flat, float(eps), False).reshaped([n, c, h, w]))
        rest = list(rest)
        if gamma is not None:
            made = made * V(rest.pop(0).reshaped([1, c, 1, 1]))
        if beta is not None:
            made = made + V(rest.pop(0).reshaped([1, c, 1, 1]))
        variance = V(arrays.reduce("var0", flat, [-1], True))
        return [made.a, arrays.reduce("mean", flat, [-1], True).reshaped(rows),
                (variance + eps).f("rsqrt").a.reshaped(rows)]

    values(compute, [input] + extra, outs)
    return [one if wanted else None for one, wanted in zip(outs, are_required_outputs)]

