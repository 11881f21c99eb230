# SPDX-License-Identifier: Apache-2.0
"""Implements products of matrices: what ttnn chooses by itself, what it fuses, what it refuses."""

import math


from .. import _arrays as arrays
from .._arrays import apply
from .. import _configs
from .._configs import activation_of
from .._launch import fail, make_output, operation, program, require_device, steps_of, values
from .._cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet, num_cores_to_corerangeset
from .._memory import DRAM_MEMORY_CONFIG, ShardSpec, Tile
from .._tensor import device_tensor
from .._types import DataType, Layout, MathFidelity, TensorMemoryLayout, broadcast_shape
from .data_movement import reshape
from .eltwise import FUNCTIONS, _unary


def _swapped(shape, transpose):
    shape = list(shape)
    if transpose and len(shape) > 1:
        shape[-1], shape[-2] = shape[-2], shape[-1]
    return shape


def _product_shape(name, a, b, transpose_a, transpose_b):
    """Returns the result's shape, and those of the operands with two dimensions at least."""
    if not len(a) or not len(b):
        fail(name, "a tensor of rank 0 cannot be multiplied")
    left, right = _swapped(a, transpose_a), _swapped(b, transpose_b)
    if len(left) == 1:
        left = [1] + left
    if len(right) == 1:
        right = right + [1]
    if left[-1] != right[-2]:
        fail(name, f"the width of the first tensor must be the height of the second: {list(a)} by "
             f"{list(b)}: {left[-1]} is not {right[-2]}")
    try:
        batch = broadcast_shape(left[:-2], right[:-2])
    except ValueError:
        fail(name, f"the batches of {list(a)} and {list(b)} must be equal or 1")
    out = list(batch) + ([left[-2]] if len(a) > 1 else []) + ([right[-1]] if len(b) > 1 else [])
    return out, list(batch) + [left[-2], right[-1]], left, right


def _fidelity(a, b, core_grid, program_config, compute):
    """Returns the math fidelity that ttnn takes for this case, or what the caller says, and fp32
    accumulation."""
    wide = None
    if compute is not None:
        wide = bool(compute.fp32_dest_acc_en)
        if compute.math_fidelity is not MathFidelity.Invalid:
            return compute.math_fidelity.name, wide
    low = a.block and b.block
    if a is DataType.FLOAT32 and b is DataType.FLOAT32:
        return "HiFi4", wide
    if core_grid is not None or program_config is not None or low:
        return "LoFi", wide
    return None, wide  # The planner's own choice is ttnn's.


def config_text(config):
    """Returns a program configuration as the emulator reads it; None for a kind that it does not
    have."""
    if isinstance(config, _configs.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig):
        return (f"dram_sharded:per_core={config.per_core_M}x{config.per_core_N}"
                f":in0_block_w={config.in0_block_w}")
    if not isinstance(config, _configs.MatmulMultiCoreReuseProgramConfig):
        return None
    if isinstance(config, _configs.MatmulMultiCoreReuseMultiCast1DProgramConfig):
        # Where A goes round a ring, ttnn does not look at mcast_in0.
        kind = "1d_in0" if config.mcast_in0 or config.gather_in0 else "1d_in1"
    elif isinstance(config, _configs.MatmulMultiCoreReuseMultiCastProgramConfig):
        kind = "2d"
    else:
        kind = "reuse"
    size = config.compute_with_storage_grid_size
    text = (f"{kind}:grid={size.x}x{size.y}:per_core={config.per_core_M}x{config.per_core_N}"
            f":in0_block_w={config.in0_block_w}")
    down, across = (getattr(config, name, None) for name in ("out_block_h", "out_block_w"))
    if down or across:  # ttnn takes all of per_core where one is not said.
        text += f":out_block={down or config.per_core_M}x{across or config.per_core_N}"
    text += f":out_subblock={config.out_subblock_h}x{config.out_subblock_w}"
    if getattr(config, "transpose_mcast", False):
        text += ":transpose_mcast=yes"
    if not getattr(config, "fuse_batch", True):
        text += ":fuse_batch=no"
    if getattr(config, "gather_in0", False):
        text += ":gather_in0=yes"
    return text


def _result_config(config, program_config, a, matrix, tile):
    """Returns where the result goes, with the shards that ttnn takes from the program configuration
    where the caller names none."""
    per_n = getattr(program_config, "per_core_N", None)
    if config is None or not config.is_sharded() or config.shard_spec is not None or not per_n:
        return config
    high, wide = tile.tile_shape
    rows, columns = math.prod(matrix[:-2]) * -(-matrix[-2] // high), -(-matrix[-1] // wide)
    per_m = min(program_config.per_core_M, rows)
    across = -(-columns // per_n)
    size = getattr(program_config, "compute_with_storage_grid_size", None)
    if config.memory_layout is TensorMemoryLayout.BLOCK_SHARDED:
        down = -(-rows // per_m)
        if getattr(program_config, "transpose_mcast", False):
            down, across = across, down
        grid = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(across - 1, down - 1))])
    elif size is None:
        grid = a._config.shard_spec.grid if a._config.shard_spec is not None else None
    else:
        count = across if config.memory_layout is TensorMemoryLayout.WIDTH_SHARDED else \
            -(-rows // per_m)
        grid = num_cores_to_corerangeset(count, CoreCoord(size.x, size.y), True)
    if grid is None:
        return config
    part = {TensorMemoryLayout.WIDTH_SHARDED: (rows, per_n),
            TensorMemoryLayout.HEIGHT_SHARDED: (per_m, columns)}.get(config.memory_layout,
                                                                     (per_m, per_n))
    return config.with_shard_spec(ShardSpec(grid, [high * part[0], wide * part[1]]))


def _attributes(a, b, transpose_a, transpose_b, core_grid, program_config, compute):
    attributes = {}
    config = config_text(program_config)
    if transpose_a:
        attributes["transpose_a"] = True
    if transpose_b:
        attributes["transpose_b"] = True
    if core_grid is not None:
        attributes["core_grid"] = [core_grid.x, core_grid.y]
    elif config is not None:
        attributes["config"] = config
    elif getattr(program_config, "compute_with_storage_grid_size", None) is not None:
        size = program_config.compute_with_storage_grid_size
        attributes["core_grid"] = [size.x, size.y]
    fidelity, wide = _fidelity(a._dtype, b._dtype, core_grid, program_config, compute)
    if fidelity:
        attributes["fidelity"] = fidelity
    if wide is not None:
        attributes["fp32_accumulation"] = int(wide)
    if compute is not None:
        attributes["packer_accumulates"] = int(bool(compute.packer_l1_acc))
    return attributes


def _bias_fuses(bias, core_grid, program_config, operands, memory_config):
    if bias is None:
        return False
    rows = bias._shape[-2] if len(bias._shape) > 1 else 1
    if rows > 32:
        return False
    if program_config is not None:
        return not isinstance(program_config, _configs.MatmulMultiCoreProgramConfig)
    plain = all(t._config == DRAM_MEMORY_CONFIG for t in operands)
    return core_grid is not None or (plain and memory_config in (None, DRAM_MEMORY_CONFIG))


def _bias_row(bias, columns):
    """Returns the row of a bias that a product adds itself: the first of its tile."""
    return bias.reshape([-1, bias.shape[-1]])[0, :columns]


def _tiles(name, a, b, transpose_a, transpose_b):
    """Returns the tiles of both operands, and what tiles the result has of them."""
    left, right = a.tile, b.tile
    rows, inner = _swapped(left.tile_shape, transpose_a)
    other, columns = _swapped(right.tile_shape, transpose_b)
    if inner != other:
        fail(name, f"Input tile dims must have inner dim equal: {left.tile_shape} by {right.tile_shape}")
    return left, right, Tile([rows, columns])


def _multiply(name, a, b, bias, transpose_a, transpose_b, memory_config, dtype, program_config,
              activation, compute, core_grid, output, launch=program, output_tile=None):
    """Launches a product, or what `launch` makes of it together with something else."""
    require_device(name, a, b, *([bias] if bias is not None else []))
    for one in (a, b):
        if one._layout is not Layout.TILE:
            fail(name, "Operands need to be in TILE layout: "
                 "ttnn.to_layout(tensor, ttnn.TILE_LAYOUT)")
    if core_grid is not None and program_config is not None:
        fail(name, "core_grid and program_config cannot be given together")
    if isinstance(core_grid, (tuple, list)):
        core_grid = CoreGrid(x=core_grid[0], y=core_grid[1])
    shape, batch_shape, left, right = _product_shape(name, a._shape, b._shape, transpose_a,
                                                     transpose_b)
    small = a._storage.tile is not None or b._storage.tile is not None or output_tile is not None
    tile_a, tile_b, tile = _tiles(name, a, b, transpose_a, transpose_b) if small else _WHOLE
    config = _result_config(memory_config, program_config, a, batch_shape, tile) or DRAM_MEMORY_CONFIG
    if small and output is None:
        out = device_tensor(shape, dtype or a._dtype, Layout.TILE, config, a._device, topology=a._topology,
                            tile=output_tile or tile, counted=tile)
    else:
        out = make_output(shape, a, dtype or a._dtype, Layout.TILE, config, output)
    attributes = _attributes(a, b, transpose_a, transpose_b, core_grid, program_config, compute)
    fused = _bias_fuses(bias, core_grid, program_config, (a, b), memory_config)
    own = getattr(program_config, "fused_activation", None)
    wanted = activation_of(activation)
    if wanted is not None and a._config.is_sharded():
        fail(name, "an activation of sharded inputs goes into program_config.fused_activation")
    fused_activation = activation_of(own) or (wanted if core_grid is not None else None)
    attributes.update(_fused(own if own is not None else activation if core_grid else None))
    shapes = [_swapped(left, transpose_a), _swapped(right, transpose_b)]
    inputs, seen = [a, b], batch_shape
    if small:
        shapes, seen = [tile_a.grown(shapes[0]), tile_b.grown(shapes[1])], tile.grown(batch_shape)
    if fused:
        inputs.append(bias)
        shapes.append([1, tile.grown(bias._shape)[-1] if small else bias._shape[-1]])
    launch(name, "matmul", inputs, [out], shapes=shapes, out_shapes=[seen], **attributes)
    dims = list(shape)
    last = None if fused else bias

    def compute_values(x, y, z=None):
        x, y = x.reshape(_swapped(left, transpose_a)), y.reshape(_swapped(right, transpose_b))
        if transpose_a:
            x = x.swapaxes(-1, -2)
        if transpose_b:
            y = y.swapaxes(-1, -2)
        made = arrays.matmul(x, y)
        if z is not None:
            made = made + _bias_row(z, made.shape[-1])
        if fused_activation is not None:
            made = apply(fused_activation[0], made, numbers=fused_activation[1])
        return made.reshape(dims) if tuple(dims) != made.shape else made

    values(compute_values, inputs, [out])
    if last is not None:
        out = FUNCTIONS["add"].function(out, last, output_tensor=out)
    if wanted is not None and fused_activation is None:
        out = _unary(wanted[0], wanted[0], out, wanted[1], None, out)
    return out


_WHOLE = (Tile(), Tile(), Tile())
_REFUSED = {"global_cb": None}


@operation(refuses=_REFUSED)
def matmul(input_tensor_a, input_tensor_b, *, transpose_a=False, transpose_b=False,
           memory_config=None, dtype=None, program_config=None, activation=None,
           compute_kernel_config=None, core_grid=None, output_tile=None, optional_output_tensor=None):
    """Computes a @ b, by the configuration that ttnn chooses."""
    return _multiply("matmul", input_tensor_a, input_tensor_b, None, transpose_a, transpose_b,
                     memory_config, dtype, program_config, activation, compute_kernel_config,
                     core_grid, optional_output_tensor, output_tile=output_tile)


@operation(refuses=_REFUSED)
def linear(input_tensor_a, input_tensor_b, *, bias=None, transpose_a=False, transpose_b=False,
           memory_config=None, dtype=None, program_config=None, activation=None,
           compute_kernel_config=None, core_grid=None, output_tile=None, optional_output_tensor=None):
    """Computes a @ b + bias, which the product adds itself where ttnn lets it."""
    return _multiply("linear", input_tensor_a, input_tensor_b, bias, transpose_a, transpose_b,
                     memory_config, dtype, program_config, activation, compute_kernel_config,
                     core_grid, optional_output_tensor, output_tile=output_tile)


@operation()
def addmm(input_tensor, mat1_tensor, mat2_tensor, *, alpha=1.0, beta=1.0, memory_config=None,
          dtype=None, program_config=None, compute_kernel_config=None, core_grid=None,
          output_tile=None, optional_output_tensor=None):
    if alpha == 0:
        fail("addmm", "alpha parameter cannot be 0")
    made = _multiply("addmm", mat1_tensor, mat2_tensor, None, False, False, memory_config, dtype,
                     program_config, None, compute_kernel_config, core_grid, optional_output_tensor,
                     output_tile=output_tile)
    if alpha != 1.0:
        made = FUNCTIONS["multiply"].function(made, alpha)
    if beta == 0.0:
        return made
    added = input_tensor if beta == 1.0 else FUNCTIONS["multiply"].function(input_tensor, beta)
    return FUNCTIONS["add"].function(made, added)


@operation()
def matmul_batched_weights(input_tensor_a, input_tensor_b, **kwargs):
    return [matmul.function(input_tensor_a, one, **kwargs) for one in input_tensor_b]


@operation("experimental.minimal_matmul")
def minimal_matmul(input_tensor, weight_tensor, *, bias_tensor=None, fused_activation=None,
                   config=None, memory_config=None, dtype=None, compute_kernel_config=None):
    """Computes a product whose operands go from core to core, with its bias and one activation."""
    name, a, b = "minimal_matmul", input_tensor, weight_tensor
    inputs = [a, b] + ([bias_tensor] if bias_tensor is not None else [])
    require_device(name, *inputs, tile=True)
    shape, _, left, right = _product_shape(name, a._shape, b._shape, False, False)
    if math.prod(right[:-2]) != 1:
        fail(name, f"the weight {b._shape} must have no batch")
    out = make_output(shape, a, dtype or a._dtype, Layout.TILE, memory_config or DRAM_MEMORY_CONFIG)
    rows, inner, columns = math.prod(left[:-1]), left[-1], right[-1]
    shapes = [[1, 1, rows, inner], [1, 1, inner, columns], [1, 1, 1, columns]][:len(inputs)]
    program(name, "minimal_matmul", inputs, [out], shapes=shapes,
            out_shapes=[[1, 1, rows, columns]],
            **_minimal_attributes(config, compute_kernel_config, rows, columns),
            **_fused(fused_activation))
    found = activation_of(fused_activation)

    def compute(x, y, z=None):
        made = arrays.matmul(x, y.reshape([inner, columns]))
        if z is not None:
            made = made + z.reshape([columns])
        return made if found is None else apply(found[0], made, numbers=found[1])

    values(compute, inputs, [out])
    return out


def _fused(activation):
    """Returns the attribute of an activation that the product's kernel applies itself."""
    found = activation_of(activation)
    return {} if found is None else {"activation": steps_of([found[0]])[0][0]}


def _minimal_attributes(config, compute, rows, columns):
    """Returns blocks as the caller says, or as the op chooses them."""
    attributes = {}
    wide = compute is not None and bool(compute.fp32_dest_acc_en)
    if config is None:
        attributes["subblock"] = [2, 2] if wide else [2, 4] if columns >= rows else [4, 2]
    else:
        attributes["block"] = [config.M_block_size, config.K_block_size, config.N_block_size]
        attributes["subblock"] = [config.subblock_h, config.subblock_w]
        size = config.compute_with_storage_grid_size
        if size is not None:
            attributes["core_grid"] = [size.x, size.y]
    if compute is not None and compute.math_fidelity is not MathFidelity.Invalid:
        attributes["fidelity"] = compute.math_fidelity.name
    if wide:
        attributes["fp32_accumulation"] = 1
    return attributes


@operation()
def outer(input_tensor_a, input_tensor_b, *, memory_config=None):
    """Returns the product of each element of one with each of the other."""
    rows = reshape.function(input_tensor_a, [1, 1, input_tensor_a._shape.volume(), 1])
    columns = reshape.function(input_tensor_b, [1, 1, 1, input_tensor_b._shape.volume()])
    return _multiply("outer", rows, columns, None, False, False, memory_config, None, None, None,
                     None, None, None)


@operation("experimental.attn_matmul",
           unread="compute_with_storage_grid_size compute_kernel_config")
def attn_matmul(input_tensor_a, input_tensor_b, *, memory_config=None, dtype=None):
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
        made = arrays.matmul(x.transpose([2, 1, 0, 3]), y)
        return made.transpose([2, 1, 0, 3])

    values(compute, [input_tensor_a, input_tensor_b], [out])
    return out


@operation("experimental.attn_matmul_from_cache",
           unread={"compute_with_storage_grid_size": 4, "compute_kernel_config": None})
def attn_matmul_from_cache(input_tensor_a, input_tensor_b, num_tokens, transpose_hw, *,
                           memory_config=None, dtype=None):
    """Does what attn_matmul does with the first num_tokens rows of a cache, [b, h or 1, s, k]; with
    transpose_hw with their columns."""
    name = "attn_matmul_from_cache"
    require_device(name, input_tensor_a, input_tensor_b, tile=True)
    length, heads, users, inner = list(input_tensor_a._shape)
    columns = num_tokens if transpose_hw else input_tensor_b._shape[-1]
    if not 0 < num_tokens <= input_tensor_b._shape[-2]:
        fail(name, f"num_tokens is {num_tokens}, and the cache has {input_tensor_b._shape[-2]} rows")
    out = make_output([length, heads, users, columns], input_tensor_a, dtype, None, memory_config)
    program(name, "matmul", [input_tensor_a, input_tensor_b], [out], True,
            shapes=[[1, users, heads, inner], [1, users, inner, columns]],
            out_shapes=[[1, users, heads, columns]])

    def compute(x, y):
        y = y[:, :, :num_tokens]
        made = arrays.matmul(x.transpose([2, 1, 0, 3]), y.swapaxes(-1, -2) if transpose_hw else y)
        return made.transpose([2, 1, 0, 3])

    values(compute, [input_tensor_a, input_tensor_b], [out])
    return out


@operation("experimental.group_attn_matmul",
           unread="compute_with_storage_grid_size compute_kernel_config")
def group_attn_matmul(input_tensor_a, input_tensor_b, *, memory_config=None, dtype=None,
                      output_dtype=None):
    """Does what attn_matmul does with fewer heads of the second operand: [1, h, b, k] by [b, g, k,
    n]."""
    output_dtype = dtype or output_dtype
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
        made = arrays.matmul(x.transpose([2, 1, 0, 3]).reshape([users, groups, each, inner]), y)
        return made.reshape([users, heads, 1, columns]).transpose([2, 1, 0, 3])

    values(compute, [input_tensor_a, input_tensor_b], [out])
    return out
