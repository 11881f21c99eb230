# SPDX-License-Identifier: Apache-2.0
"""Implements whole numbers in place of real ones."""

from .._arrays import apply, np
from .._launch import make_output, operation, program, require_device, values
from .._types import DataType


def _number_of(value, array):
    return array if array is not None else float(value)


def _quantization(name, function):
    @operation(name)
    def call(input_tensor, *scales, axis=None, dtype=None, memory_config=None, output_tensor=None,
             **named):
        """Launches one program with a scale and a zero point, each of which is one number or a
        tensor."""
        words = ("in_scale", "in_zero_point", "out_scale", "out_zero_point") if len(
            scales) + len(named) > 2 else ("scale", "zero_point")
        unknown = sorted(set(named) - set(words[len(scales):]))
        if unknown or len(scales) + len(named) != len(words):
            raise TypeError(f"ttnn.{name}(): incompatible function arguments: it takes "
                            f"{', '.join(words)}, not {len(scales)} numbers and {sorted(named)}")
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
                    array = array.reshape(dims)
                numbers.append(_number_of(one, array))
            return function(x.astype(np.float32), *numbers)

        values(compute, [input_tensor] + tensors, [out])
        return out

    return call


quantize = _quantization("quantize", lambda x, s, z: apply("round", x / s + z, numbers=[0]))
dequantize = _quantization("dequantize", lambda x, s, z: (x - z) * s)
requantize = _quantization("requantize",
                           lambda x, s, z, t, y: apply("round", (x - z) * s / t + y, numbers=[0]))
