# SPDX-License-Identifier: Apache-2.0
"""Implements sparse_matmul: a product of those blocks alone that a third tensor names."""

from typing import Any, Dict

from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._memory import DRAM_MEMORY_CONFIG, Tile
from .._tensor import device_tensor
from .._types import DataType, Layout, MathFidelity
from .matmul import config_text


def _typed(tensor, dtype):
    return tensor if tensor._dtype is dtype else device_tensor(
        tensor._shape, dtype, tensor._layout, tensor._config, tensor._device)


def _blocks(a, b, a_sparse, b_sparse):
    """Returns the dimensions of the blocks in the result, and those that both operands must have
    for it."""
    a, b = list(a), list(b)
    if a_sparse and b_sparse:
        return [1, b[1]], [1, a[1]], [1, b[1]]
    if b_sparse:
        return [a[0], a[1], 1, b[1]], [a[0], a[1], 1, 1], [1, 1, 1, b[1]]
    if a_sparse:
        return [a[0], a[1]], [a[0], a[1]], [1, b[1]]
    fail("sparse_matmul", "one operand must be sparse at least: is_input_a_sparse or "
         "is_input_b_sparse")
    return None


@operation(unread="core_grid")
def sparse_matmul(input_tensor_a, input_tensor_b, *, sparsity, nnz=None,
                  is_input_a_sparse=False, is_input_b_sparse=True, program_config=None,
                  compute_kernel_config=None, memory_config=None, dtype=None,
                  output_tile=None, optional_output_tensor=None):
    """Multiplies each block whose number in `sparsity` is not 0. The others are zeros here, and
    undefined on a card."""
    name, a, b = "sparse_matmul", input_tensor_a, input_tensor_b
    require_device(name, a, b, tile=True)
    require_device(name, a, sparsity)
    if len(sparsity._shape) != 4 or sparsity._layout is not Layout.ROW_MAJOR:
        fail(name, f"sparsity {sparsity._shape} must have rank 4 and rows: ttnn.ROW_MAJOR_LAYOUT")
    outer, left, right = _blocks(a._shape, b._shape, is_input_a_sparse, is_input_b_sparse)
    rows, inner, columns = a._shape[-2], a._shape[-1], b._shape[-1]
    count = 1
    for size in outer:
        count *= size
    if sparsity._shape.volume() != count:
        fail(name, f"sparsity {sparsity._shape} has {sparsity._shape.volume()} numbers for {count} "
             "blocks")
    if output_tile is not None and optional_output_tensor is None:
        out = device_tensor(outer + [rows, columns], dtype or a._dtype, Layout.TILE, memory_config, a._device,
                            topology=a._topology, tile=output_tile, counted=Tile())
    else:
        out = make_output(outer + [rows, columns], a, dtype or a._dtype, Layout.TILE,
                          memory_config or DRAM_MEMORY_CONFIG, optional_output_tensor)
    if nnz is not None:
        used = int(nnz)
    else:
        used = int((sparsity.array() != 0).sum()) if a._device.values else count
    told: Dict[str, Any] = {"used": used, "sparse_a": bool(is_input_a_sparse),
                            "sparse_b": bool(is_input_b_sparse)}
    config = config_text(program_config)
    if config is not None:
        told["config"] = config
    if compute_kernel_config is not None and compute_kernel_config.math_fidelity is not MathFidelity.Invalid:
        told["fidelity"] = compute_kernel_config.math_fidelity.name
    if used:
        program(name, "sparse_matmul", [a, b, _typed(sparsity, DataType.BFLOAT16)], [out],
                out_shapes=[[count // b._shape[1], b._shape[1], rows, columns]], **told)

    def compute(x, y, kept):
        made = arrays.matmul(x.reshape(left + [rows, inner]), y.reshape(right + [inner, columns]))
        return np.where(kept.reshape(outer + [1, 1]) != 0, made, 0.0)

    values(compute, [a, b, sparsity], [out])
    return out
