# SPDX-License-Identifier: Apache-2.0
"""Implements look-ups in tables."""


from .. import _arrays as arrays
from .._arrays import np
from .._launch import fail, make_output, operation, program, require_device, values
from .._tensor import device_tensor
from .._types import DataType, Layout
from .layout import to_layout


def _indices(name, tensor):
    """Returns indices as the emulated kernel reads them, in 32 bits each; ttnn's takes bfloat16 as
    well. Raises an error for others."""
    if tensor._dtype is DataType.UINT32:
        return tensor
    if tensor._dtype is not DataType.BFLOAT16:
        fail(name, f"Input must be UINT32 or BFLOAT16, and the indices are {tensor._dtype.name}: "
             "ttnn.from_torch(indices, dtype=ttnn.uint32)")
    return device_tensor(tensor._shape, DataType.UINT32, tensor._layout, None, tensor._device)


@operation(unread="padding_idx embeddings_type")
def embedding(input_tensor, weight, *, layout=None, dtype=None, output_tensor=None,
              memory_config=None):
    """Returns [batch, sentence, hidden], the rows of the table for indices [batch, .., sentence]
    whose middle dimensions are 1."""
    require_device("embedding", input_tensor, weight)
    dims = list(input_tensor._shape)
    if any(d != 1 for d in dims[1:-1]):
        fail("embedding", f"the dimensions between the first and the last of {input_tensor._shape} "
             "must be 1")
    shape = ([dims[0], dims[-1]] if len(dims) > 1 else dims) + [weight._shape[-1]]
    layout = layout or weight._layout
    if layout is Layout.ROW_MAJOR and dtype not in (None, weight._dtype):
        fail("embedding", f"Can only typecast output embeddings in tiles, not rows of {dtype}: "
             "layout=ttnn.TILE_LAYOUT")
    if weight._layout is Layout.TILE:
        weight = to_layout.function(weight, Layout.ROW_MAJOR)
    aligned = shape[-1] % 32 == 0 and shape[-2] % 32 == 0
    tiles = layout is Layout.TILE and aligned
    made = make_output(shape, weight, dtype, Layout.TILE if tiles else Layout.ROW_MAJOR,
                       memory_config, output_tensor)
    program("embedding", "embedding", [_indices("embedding", input_tensor), weight], [made],
            shapes=[None, [weight._shape.volume() // shape[-1], shape[-1]]])
    values(lambda i, w: arrays.rows_of(w, i).reshape(shape), [input_tensor, weight], [made])
    return made if tiles or layout is Layout.ROW_MAJOR else to_layout.function(made, layout)


@operation()
def embedding_bw(input_tensor, weight, output_gradient, *, dtype=None, output_tensor=None,
                 memory_config=None):
    require_device("embedding_bw", input_tensor, weight, output_gradient)
    rows, width = weight._shape[-2], weight._shape[-1]
    out = make_output([1, 1, rows, width], output_gradient, dtype, Layout.TILE, memory_config,
                      output_tensor)
    program("embedding_bw", "embedding_backward",
            [_indices("embedding_bw", input_tensor), output_gradient], [out])

    def compute(i, _w, g):
        places = np.broadcast_to(i.reshape([i.size, 1]).astype(np.int64), [i.size, width])
        made = arrays.scattered(arrays.full([rows, width], 0.0), 0, places,
                                g.reshape([i.size, width]), "add")
        return made.reshape([1, 1, rows, width])

    values(compute, [input_tensor, weight, output_gradient], [out])
    return out
