# SPDX-License-Identifier: Apache-2.0
"""Implements look-ups in tables."""


from .. import _arrays as arrays
from .._arrays import np
from .._launch import make_output, operation, program, require_device, values
from .._types import EmbeddingsType, Layout
from .layout import to_layout


@operation()
def embedding(input_tensor, weight, *, padding_idx=None, layout=None,
              embeddings_type=EmbeddingsType.GENERIC, dtype=None, output_tensor=None,
              memory_config=None):
    require_device("embedding", input_tensor, weight)
    if weight._layout is Layout.TILE:
        weight = to_layout.function(weight, Layout.ROW_MAJOR)
    shape = list(input_tensor._shape) + [weight._shape[-1]]
    layout = layout or Layout.ROW_MAJOR
    aligned = shape[-1] % 32 == 0 and shape[-2] % 32 == 0
    tiles = layout is Layout.TILE and aligned
    made = make_output(shape, weight, dtype, Layout.TILE if tiles else Layout.ROW_MAJOR,
                       memory_config, output_tensor)
    program("embedding", "embedding", [input_tensor, weight], [made],
            shapes=[None, [weight._shape.volume() // shape[-1], shape[-1]]])
    values(lambda i, w: arrays.rows_of(w, i), [input_tensor, weight], [made])
    return made if tiles or layout is Layout.ROW_MAJOR else to_layout.function(made, layout)


@operation()
def embedding_bw(input_tensor, weight, output_gradient, *, dtype=None, output_tensor=None,
                 memory_config=None):
    require_device("embedding_bw", input_tensor, weight, output_gradient)
    rows, width = weight._shape[-2], weight._shape[-1]
    out = make_output([1, 1, rows, width], output_gradient, dtype, Layout.TILE, memory_config,
                      output_tensor)
    program("embedding_bw", "embedding_backward", [input_tensor, output_gradient], [out])

    def compute(i, _w, g):
        places = np.broadcast_to(i.reshape([i.size, 1]), [i.size, width])
        made = arrays.scattered(arrays.full([rows, width], 0.0), 0, places,
                                g.reshape([i.size, width]), True)
        return made.reshape([1, 1, rows, width])

    values(compute, [input_tensor, weight, output_gradient], [out])
    return out
