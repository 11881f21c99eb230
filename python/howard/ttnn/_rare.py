# SPDX-License-Identifier: Apache-2.0
"""Implements ops that single families of models use: Mamba, Falcon, DeepSeek, networks for images,
sampling."""

import enum
import math

from howard import _native

from . import _create
from ._backward import V
from ._configs import Conv2dConfig, Conv2dSliceConfig
from ._conv import avg_pool2d, max_pool2d, prepare_conv_bias, prepare_conv_weights
from ._create import _random
from ._further import attn_matmul
from ._launch import fail, make_output, operation, program, require_device, values
from ._matmul import matmul
from ._mesh import all_gather
from ._movement import _moved, slice_
from ._transformer import _attention_attributes, _split, _spread_heads, attention
from ._types import (
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    DRAM_MEMORY_CONFIG,
    DataType,
    Layout,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
    num_cores_to_corerangeset,
)

arrays = _native._ttnn.arrays

ReduceType = enum.Enum("ReduceType", "Sum Mean Max Min Std Var")
Conv2dL1FullSliceConfig = Op2DL1FullSliceConfig = Conv2dSliceConfig(slice_type="L1_FULL")
Conv2dDRAMSliceHeight = Op2DDRAMSliceHeight = "DRAM_HEIGHT"
Conv2dDRAMSliceWidth = Op2DDRAMSliceWidth = "DRAM_WIDTH"
Op2DSliceConfig = Conv2dSliceConfig
Conv1dConfig = Conv2dConfig
prepare_conv_transpose2d_weights = prepare_conv_weights
prepare_conv_transpose2d_bias = prepare_conv_bias


@operation()
def randn(shape, device=None, *, dtype=None, layout=None, memory_config=DRAM_MEMORY_CONFIG, mean=0.0,
          std=1.0, seed=0, compute_kernel_config=None):
    """Draws numbers of the normal distribution, each from two uniform ones."""
    def draw(dims, start):
        first = V(arrays.uniform(dims, 1e-7, 1.0, start, False))
        second = V(arrays.uniform(dims, 0.0, 2 * math.pi, start + 7919, False))
        return ((-2 * first.f("log")).f("sqrt") * second.f("cos") * std + mean).a

    if device is None:
        _create._seed[0] += 1
        made = _create._kept(shape, lambda: draw(list(shape), seed or _create._seed[0]))
        return _create._place([made], dtype or DataType.BFLOAT16, layout or Layout.TILE, None, None,
                              None)
    return _random("randn", shape, device, dtype, layout, memory_config, seed, draw)


def _adaptive(name, pool):
    @operation(name)
    def call(input_tensor, batch_size, input_h, input_w, channels, output_size, **options):
        """Computes a pool whose windows give a result of that size."""
        rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
        if input_h % rows or input_w % columns:
            fail(name, f"{input_h}x{input_w} places cannot be divided evenly into {rows}x{columns}")
        window = (input_h // rows, input_w // columns)
        return pool.function(input_tensor, batch_size, input_h, input_w, channels, window, window,
                             **options)

    return call


adaptive_avg_pool2d = _adaptive("adaptive_avg_pool2d", avg_pool2d)
adaptive_max_pool2d = _adaptive("adaptive_max_pool2d", max_pool2d)


def _turned(name, kernel_layout):
    @operation("experimental." + name)
    def call(input_tensor, *, memory_config=None, dtype=None):
        """Transposes [1, b, m, n] to [1, b, n, m], in rows."""
        shape = list(input_tensor._shape)
        shape[-1], shape[-2] = shape[-2], shape[-1]
        order = list(range(len(shape)))
        order[-1], order[-2] = order[-2], order[-1]
        return _moved(name, [input_tensor], shape, lambda a: arrays.permuted(a, order),
                      memory_config, layout=kernel_layout, dtype=dtype)

    return call


_turned("convert_to_hwc", Layout.ROW_MAJOR)
_turned("convert_to_chw", Layout.ROW_MAJOR)


# Mamba.


@operation("experimental.hc_sum_reduce")
def hc_sum_reduce(input, *, memory_config=None, dtype=None, math_fidelity=None):
    """Returns the sum of each 32 columns."""
    *outer, columns = list(input._shape)
    shape = outer + [columns // 32]

    def compute(x):
        return arrays.reduce("sum", x.reshaped(shape + [32]), [-1], False)

    return _moved("hc_sum_reduce", [input], shape, compute, memory_config, dtype=dtype)


@operation("experimental.repeat_and_interleave_eltwise_mul")
def repeat_and_interleave_eltwise_mul(a, b, *, memory_config=None, dtype=None, math_fidelity=None):
    """Multiplies each 32 columns of a, or all of a, by each column of b."""
    columns = max(a._shape[-1], 32) if b._shape[-1] == 32 else b._shape[-1] * 32
    shape = list(a._shape)[:-1] + [columns]
    require_device("repeat_and_interleave_eltwise_mul", a, b)
    out = make_output(shape, a, dtype, None, memory_config)
    program("repeat_and_interleave_eltwise_mul", "multiply", [out, out], [out], True)

    def compute(x, y):
        rows = x.size // x.shape[-1]
        if x.shape[-1] == 32:
            x = arrays.repeated(x, [1] * (len(shape) - 1) + [columns // 32])
        if y.shape[-1] != columns:
            y = arrays.broadcast_to(y.reshaped([rows, y.shape[-1], 1]),
                                    [rows, y.shape[-1], columns // y.shape[-1]]).reshaped(shape)
        return arrays.binary("multiply", x, y)

    values(compute, [a, b], [out])
    return out


@operation("experimental.prefix_scan")
def prefix_scan(a, bx, h_prev, *, memory_config=None, dtype=None, math_fidelity=None):
    """Computes h = a h + bx, row after row, and returns h at each."""
    rows, columns = a._shape[-2], a._shape[-1]
    require_device("prefix_scan", a, bx, h_prev)
    out = make_output(a._shape, a, dtype, None, memory_config)
    program("prefix_scan", "multiply", [a, bx], [out], True)

    def compute(x, y, h):
        h = V(h.reshaped([h.size])) if h.size == columns else V(0.0)
        x, y, made = x.reshaped([rows, columns]), y.reshaped([rows, columns]), []
        for i in range(rows):
            one, other = (V(arrays.sliced(t, [i, 0], [i + 1, columns], [1, 1]).reshaped([columns]))
                          for t in (x, y))
            h = one * h + other
            made.append(h.a.reshaped([1, columns]))
        return arrays.concatenated(made, 0).reshaped(list(a._shape))

    values(compute, [a, bx, h_prev], [out])
    return out


# Parts.


@operation("experimental.padded_slice")
def padded_slice(input_tensor, starts, ends, steps=None, *, memory_config=None, **_):
    return slice_.function(input_tensor, starts, ends, steps, memory_config=memory_config)


@operation("experimental.slice_write")
def slice_write(input_tensor, output_tensor, starts, ends, steps=None, **_):
    """Writes the input to a part of the output, and returns the output."""
    require_device("slice_write", input_tensor, output_tensor)
    program("slice_write", "copy", [input_tensor], [output_tensor],
            out_shapes=[list(input_tensor._shape)])
    dims = list(output_tensor._shape)

    def compute(whole, part):
        places = arrays.arange(0.0, 1.0, whole.size, True).reshaped(dims)
        index = arrays.sliced(places, list(starts), list(ends), list(steps or [1] * len(dims)))
        return arrays.scattered(whole.reshaped([whole.size]), 0, index.reshaped([part.size]),
                                part.reshaped([part.size]), False).reshaped(dims)

    values(compute, [output_tensor, input_tensor], [output_tensor])
    return output_tensor


# Attention.


@operation("experimental.nlp_create_qkv_heads_segformer")
def nlp_create_qkv_heads_segformer(input_tensor, *, memory_config=None):
    """Brings [b, 1, s, h 32] to [b, h, s, 32], three times, because ttnn returns three tensors."""
    b, _one, s, columns = list(input_tensor._shape)
    heads = columns // 32

    def compute(x):
        return arrays.permuted(x.reshaped([b, s, heads, 32]), [0, 2, 1, 3])

    made = _moved("nlp_create_qkv_heads_segformer", [input_tensor], [b, heads, s, 32], compute,
                  memory_config)
    return made, made, made


@operation("experimental.create_qkv_heads_from_separate_tensors")
def create_qkv_heads_from_separate_tensors(input_tensor, kv_input_tensor, *, num_heads,
                                           num_kv_heads=None, transpose_k_heads=True,
                                           memory_config=None, output_tensors=None):
    return _split("create_qkv_heads_from_separate_tensors", input_tensor, kv_input_tensor, num_heads,
                  num_kv_heads, transpose_k_heads, memory_config)


@operation("experimental.group_attn_matmul")
def group_attn_matmul(input_tensor_a, input_tensor_b, *, compute_with_storage_grid_size=None,
                      memory_config=None, output_dtype=None, compute_kernel_config=None):
    """Does what attn_matmul does with fewer heads of the second operand: [1, h, b, k] by [b, g, k,
    n]."""
    heads, groups = input_tensor_a._shape[1], input_tensor_b._shape[1]
    if groups in (1, heads):
        return attn_matmul.function(input_tensor_a, input_tensor_b, memory_config=memory_config,
                                    dtype=output_dtype)
    require_device("group_attn_matmul", input_tensor_a, input_tensor_b, tile=True)
    _one, _, users, inner = list(input_tensor_a._shape)
    columns = input_tensor_b._shape[-1]
    out = make_output([1, heads, users, columns], input_tensor_a, output_dtype, None, memory_config)
    each = heads // groups
    program("group_attn_matmul", "matmul", [input_tensor_a, input_tensor_b], [out], True,
            shapes=[[1, users * groups, each, inner], [1, users * groups, inner, columns]],
            out_shapes=[[1, users * groups, each, columns]])

    def compute(x, y):
        made = arrays.matmul(arrays.permuted(x, [2, 1, 0, 3]), _spread_heads(y, each))
        return arrays.permuted(made, [2, 1, 0, 3])

    values(compute, [input_tensor_a, input_tensor_b], [out])
    return out


@operation("transformer.flash_mla_prefill")
def flash_mla_prefill(input_tensor_q, input_tensor_k, head_dim_v, *, attn_mask=None, is_causal=True,
                      scale=None, memory_config=None, program_config=None,
                      compute_kernel_config=None):
    """Computes attention whose values are the first columns of its keys."""
    name, q, k = "flash_mla_prefill", input_tensor_q, input_tensor_k
    require_device(name, q, k, tile=True)
    shape = list(q._shape)[:-1] + [head_dim_v]
    out = make_output(shape, q, None, None, memory_config or DRAM_MEMORY_CONFIG)
    inputs = [q, k, k] + ([attn_mask] if attn_mask is not None else [])
    program(name, "attention", inputs, [out], True, out_shapes=[list(q._shape)],
            causal=bool(is_causal), **_attention_attributes(program_config, compute_kernel_config))

    def compute(x, keys, mask=None):
        part = arrays.sliced(keys, [0] * 4, list(keys.shape[:-1]) + [head_dim_v], [1] * 4)
        return attention(x, keys, part, mask, is_causal, scale)

    values(compute, [q, k] + inputs[3:], [out])
    return out


@operation("experimental.all_gather_matmul")
def all_gather_matmul(input_tensor, weight_tensor, *, dim, num_links=1, memory_config_ag=None,
                      memory_config_mm=None, topology=None, transpose_a=False, transpose_b=False,
                      dtype=None, program_config=None, activation=None, compute_kernel_config=None,
                      core_grid=None, **_):
    """Returns the gathered tensor and its product; they are timed one after the other."""
    whole = all_gather.function(input_tensor, dim, memory_config=memory_config_ag)
    made = matmul.function(whole, weight_tensor, transpose_a=transpose_a, transpose_b=transpose_b,
                           memory_config=memory_config_mm, dtype=dtype,
                           program_config=program_config, activation=activation,
                           compute_kernel_config=compute_kernel_config, core_grid=core_grid)
    return [whole, made]


@operation()
def sampling(input_values_tensor, input_indices_tensor, k, p, temp=None, *, seed=None,
             sub_core_grids=None, output_tensor=None):
    """Returns a token for each user, which here is always the likeliest one."""
    require_device("sampling", input_values_tensor, input_indices_tensor)
    users = input_values_tensor._shape[-2]
    out = make_output([1, 1, 1, users], input_values_tensor, DataType.UINT32, Layout.ROW_MAJOR, None,
                      output_tensor)
    program("sampling", "move", [input_values_tensor], [out], True)

    def compute(numbers, indices):
        width = numbers.shape[-1]
        best = arrays.argmax(numbers.reshaped([users, width]), 1, True)
        return arrays.gathered(indices.reshaped([users, width]), 1, best).reshaped([1, 1, 1, users])

    values(compute, [input_values_tensor, input_indices_tensor], [out])
    return out


def visualize_mesh_device(mesh_device, *_, **__):
    """Prints the mesh in a line."""
    print(mesh_device)


def visualize_tensor(tensor, *_, **__):
    """Prints the tensor's places in a line."""
    print(f"{tensor.shape} on {tensor.device()}, {tensor.memory_config()}")


# These are helpers of group_norm, over torch.


def create_group_norm_weight_bias_rm(input_tensor, num_channels, num_cores_x):
    """Returns a torch vector of channels as rows of 32, with zeros behind the last."""
    import torch

    rows = -(-num_channels // 32)
    padded = torch.zeros(rows * 32, dtype=input_tensor.dtype)
    padded[:num_channels] = input_tensor.flatten()[:num_channels]
    return padded.reshape(1, 1, rows, 32)


def create_group_norm_input_mask(num_channel, num_groups, num_cores_across_channel,
                                 data_type=None):
    """Returns ones where the columns of a tile belong to a group: [1, groups, 32, 32 n]."""
    import torch

    size = num_channel // num_groups
    tiles = 1 + max((size * group % 32 + size - 1) // 32 for group in range(num_groups))
    mask = torch.zeros(1, num_groups, 32, 32 * tiles)
    for group in range(num_groups):
        first = size * group % 32
        mask[0, group, :, first:first + size] = 1
    return mask


def determine_expected_group_norm_sharded_config_and_grid_size(
        *, device, num_channels, num_groups, input_nhw, is_height_sharded, is_row_major=False):
    """Returns shards whose columns hold whole groups, and the grid that has them."""
    size = device.compute_with_storage_grid_size()
    across = 1
    if not is_height_sharded:
        least = 8 if is_row_major else 32
        across = next((n for n in range(size.y, 0, -1) if num_channels % (n * least) == 0
                       and num_groups % n == 0), 1)
    most = size.x * size.y if is_height_sharded else size.x
    rows = -(-input_nhw // 32)
    down = next(n for n in range(min(most, rows), 0, -1) if rows % n == 0)
    layout = TensorMemoryLayout.HEIGHT_SHARDED if is_height_sharded else \
        TensorMemoryLayout.BLOCK_SHARDED
    cores = num_cores_to_corerangeset(down, size, True) if is_height_sharded else CoreRangeSet(
        [CoreRange(CoreCoord(0, 0), CoreCoord(down - 1, across - 1))])
    orientation = ShardOrientation.ROW_MAJOR if is_height_sharded else ShardOrientation.COL_MAJOR
    spec = ShardSpec(cores, [rows * 32 // down, num_channels // across], orientation)
    grid = CoreGrid(x=size.x, y=-(-down // size.x)) if is_height_sharded else CoreGrid(x=down,
                                                                                       y=across)
    return MemoryConfig(layout, BufferType.L1, spec), grid
