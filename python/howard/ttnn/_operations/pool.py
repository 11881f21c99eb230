# SPDX-License-Identifier: Apache-2.0
"""Implements pools of images, in the chip's order: [1, 1, n h w, c]."""


from .. import _arrays as arrays
from .._arrays import apply, np
from .._launch import fail, make_output, operation, program, require_device, values
from .conv import _paddings, _pair, _sizes, _window


def _pool(name, combine):
    @operation(name, refuses=("ceil_mode", "count_include_pad"))
    def call(input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride=None,
             padding=(0, 0), dilation=(1, 1), *, ceil_mode=False, count_include_pad=True,
             divisor_override=None, memory_config=None, applied_shard_scheme=None, in_place_halo=False,
             deallocate_input=False, reallocate_halo_output=True, dtype=None, output_layout=None,
             **_):
        """Returns the largest, or the mean, of each place's window."""
        kernel, dilation = _pair(kernel_size), _pair(dilation)
        stride, padding = _pair(stride or kernel), _paddings(padding)
        rows, columns = _sizes(input_h, input_w, kernel, stride, padding, dilation)
        require_device(name, input_tensor)
        out = make_output([1, 1, batch_size * rows * columns, channels], input_tensor, dtype,
                          output_layout, memory_config)
        program("halo", "move", [input_tensor], [input_tensor], True)
        program(name, "move", [input_tensor], [out], True)
        top, bottom, left, right = padding
        fill = -1e30 if combine == "maximum" else 0.0

        def compute(x):
            x = x.reshape([batch_size, input_h, input_w, channels])
            x = arrays.padded(x, [0, top, left, 0], [0, bottom, right, 0], fill)
            made = None
            for i in range(kernel[0]):
                for j in range(kernel[1]):
                    seen = _window(x, i, j, rows, columns, stride, dilation)
                    made = seen if made is None else apply(combine, made, seen)
            if combine == "add":
                count = divisor_override or kernel[0] * kernel[1]
                made = made / float(count)
            return made.reshape([1, 1, batch_size * rows * columns, channels])

        values(compute, [input_tensor], [out])
        return out

    return call


max_pool2d = _pool("max_pool2d", "maximum")
avg_pool2d = _pool("avg_pool2d", "add")


@operation()
def global_avg_pool2d(input_tensor, *, memory_config=None, dtype=None):
    """Averages [n, h, w, c] to [n, 1, 1, c]."""
    n, h, w, c = list(input_tensor._shape)
    require_device("global_avg_pool2d", input_tensor)
    out = make_output([n, 1, 1, c], input_tensor, dtype, None, memory_config)
    program("global_avg_pool2d", "move", [input_tensor], [out], True)
    values(lambda x: arrays.reduce("mean", x, [1, 2], True), [input_tensor], [out])
    return out


@operation(refuses=("mode",))
def upsample(input_tensor, scale_factor, *, mode="nearest", memory_config=None,
             compute_kernel_config=None):
    """Returns [n, h, w, c] with each place repeated."""
    n, h, w, c = list(input_tensor._shape)
    down, across = _pair(scale_factor)
    require_device("upsample", input_tensor)
    out = make_output([n, h * down, w * across, c], input_tensor, None, None, memory_config)
    program("upsample", "move", [input_tensor], [out], True)

    def compute(x):
        wide = np.broadcast_to(x.reshape([n, h, 1, w, 1, c]), [n, h, down, w, across, c])
        return wide.reshape([n, h * down, w * across, c])

    values(compute, [input_tensor], [out])
    return out


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
