# SPDX-License-Identifier: Apache-2.0
"""Implements the programs that TTML adds to those of ttnn: what they launch and what they compute."""

import numpy as np

import howard.ttnn as ttnn
from howard.ttnn import Layout, _arrays as arrays
from howard.ttnn._launch import computed, engine, program, values
from howard.ttnn._operations.transformer import scored
from howard.ttnn._tensor import device_tensor


def products():
    """Returns how TTML multiplies: on 7 by 8 cores, or all that the device has where those do not fit,
    with all passes over the mantissa and sums in float32."""
    return {"core_grid": ttnn.CoreGrid(x=7, y=8),
            "compute_kernel_config": ttnn.WormholeComputeKernelConfig(
                math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)}


def matmul(a, b, transpose_a=False, transpose_b=False):
    return ttnn.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, **products())


def fresh(shape, like, dtype=None, layout=Layout.TILE):
    """Returns memory for a result."""
    return device_tensor(list(shape), dtype or like.dtype, layout, None, like.device(),
                         topology=like._topology)


def launch(name, kernel, inputs, outs, **attributes):
    """Launches a program, and returns its results."""
    computed(name, kernel, inputs, outs, **attributes)
    return outs if len(outs) > 1 else outs[0]


def rows_of(value):
    """Returns a tensor as one matrix [1, 1, rows, columns]: for free where tiles stay whole."""
    shape = list(value.shape)
    columns = shape[-1]
    rows = int(np.prod(shape[:-1]))
    if shape == [1, 1, rows, columns]:
        return value
    return ttnn.reshape(value, [1, 1, rows, columns])


def sum_rows(value):
    """Returns the sums over all rows, [1, 1, 1, columns], as moreh_sum makes them."""
    matrix = rows_of(value)
    out = fresh([1, 1, 1, value.shape[-1]], value)
    return launch("moreh_sum", "sum", [matrix], [out], dimension="rows", moreh=True)


def mean(value):
    """Returns the mean of all, [1, 1, 1, 1], as moreh_mean makes it."""
    return launch("moreh_mean", "mean", [value], [fresh([1, 1, 1, 1], value)], dimension="all",
                  moreh=True)


def reduced_to(gradient, shape):
    """Returns a gradient summed over the dimensions that were broadcast."""
    found, wanted = list(gradient.shape), list(shape)
    if found == wanted:
        return gradient
    padded = [1] * (len(found) - len(wanted)) + wanted
    dims = [i for i, (a, b) in enumerate(zip(found, padded)) if a != b]
    if dims:
        gradient = ttnn.sum(gradient, dims, True)
    return gradient if list(gradient.shape) == wanted else ttnn.reshape(gradient, wanted)


# Norms.

def layernorm(x, gamma, beta, epsilon):
    shape = list(x.shape)
    outs = [fresh(shape, x), fresh(shape[:-1] + [1], x), fresh(shape[:-1] + [1], x)]
    return launch("layernorm_fw", "ttml_layernorm", [x, gamma, beta], outs, epsilon=float(epsilon))


def layernorm_backward(x, gamma, mean, rstd, dy):
    shape = list(x.shape)
    outs = [fresh(shape, x), fresh(shape, x), fresh(shape, x)]
    return launch("layernorm_bw", "layernorm_backward", [x, gamma, mean, rstd, dy], outs)


def rmsnorm(x, gamma, epsilon):
    shape = list(x.shape)
    outs = [fresh(shape, x), fresh(shape[:-1] + [1], x)]
    return launch("rmsnorm_fw", "ttml_rms_norm", [x, gamma], outs, epsilon=float(epsilon))


def rmsnorm_backward(x, gamma, rms, dy):
    outs = [fresh(x.shape, x), fresh(x.shape, x)]
    return launch("rmsnorm_bw", "rms_norm_backward", [x, gamma, rms, dy], outs)


# Losses of each place.

def rows_layout(value):
    """Returns whole numbers as rows, which is how programs look them up."""
    return value if value.layout is Layout.ROW_MAJOR else ttnn.to_layout(value, Layout.ROW_MAJOR)


def cross_entropy(logits, targets):
    out = fresh(list(logits.shape[:-1]) + [1], logits)
    return launch("cross_entropy_fw", "cross_entropy", [logits, targets], [out])


def cross_entropy_backward(logits, targets, scale):
    out = fresh(logits.shape, logits)
    return launch("cross_entropy_bw", "cross_entropy_backward", [logits, targets], [out],
                  scale=float(scale))


def nll(logarithms, targets):
    out = fresh(list(logarithms.shape[:-1]) + [1], logarithms)
    return launch("moreh_nll_loss", "nll_loss", [logarithms, targets], [out])


def nll_backward(logarithms, targets, scale):
    out = fresh(logarithms.shape, logarithms)
    return launch("moreh_nll_loss_backward", "nll_loss_backward", [logarithms, targets], [out],
                  scale=float(scale))


# Attention.

class Attention:
    """TTML's attention in one program forward and two backward. Where each place sees those before it, also
    by a mask, the host engine computes it block by block; NumPy computes other masks as a whole."""

    def __init__(self, q, k, v, mask, scale):
        self.inputs, self.mask, self._scale = [q, k, v], mask, scale
        self._told = {"causal": mask is None, "scale": float(scale)}
        batch, heads, rows, _ = q.shape
        self.statistics = [fresh([batch, heads, rows, 1], q), fresh([batch, heads, rows, 1], q)]
        self.out = fresh([batch, heads, rows, v.shape[-1]], q)
        program("sdpa_fw", "sdpa_fw", self.inputs, [self.out, *self.statistics], **self._told)
        values(self._forward, self.inputs + self._masks(), [self.out])

    def _masks(self):
        return [] if self.mask is None else [self.mask]

    def _computed(self, kernel, inputs, outs, given):
        return engine(kernel, inputs, outs, causal=True, scale=float(self._scale))(*given)

    def _engines(self, *given):
        """Returns the result, and the numbers of its rows, before they are rounded."""
        return self._computed("sdpa_fw", self.inputs, [self.out, *self.statistics], given)

    def _shares(self, q, k, mask):
        return arrays.softmax(np.where(mask != 0, scored(q, k, self._scale), np.float32(-1e9)), -1)

    def _forward(self, q, k, v, *mask):
        if _is_causal(*mask):
            return self._engines(q, k, v)[0]
        return arrays.matmul(_by_groups(self._shares(q, k, *mask), v), v).reshape([*q.shape[:3], -1])

    def backward(self, dout):
        q, k, v = self.inputs
        operands = [q, k, v, self.out, dout, *self.statistics]
        dq, dk, dv = fresh(q.shape, q), fresh(k.shape, k), fresh(v.shape, v)
        program("sdpa_q_bw", "sdpa_bw_q", operands, [dq], **self._told)
        program("sdpa_kv_bw", "sdpa_bw_kv", operands, [dk, dv], **self._told)

        def causal(*given):
            out, *statistics = self._engines(*given[:3])
            every = [*given[:3], out, given[3], *statistics]
            return (self._computed("sdpa_bw_q", operands, [dq], every)
                    + self._computed("sdpa_bw_kv", operands, [dk, dv], every))

        values(lambda *given: causal(*given[:4]) if _is_causal(*given[4:]) else self._masked(*given),
               [q, k, v, dout] + self._masks(), [dq, dk, dv])
        return [dq, dk, dv]

    def _masked(self, q, k, v, dout, mask):
        share = self._shares(q, k, mask)
        dout = _by_groups(dout, v)
        dshare = arrays.matmul(dout, v.swapaxes(-1, -2)).reshape(share.shape)
        dscore = share * (dshare - (dshare * share).sum(-1, keepdims=True)) * self._scale
        share, dscore = _by_groups(share, v), _by_groups(dscore, k)
        return [arrays.matmul(dscore, k).reshape(q.shape),
                arrays.matmul(dscore.swapaxes(-1, -2), _by_groups(q, k)),
                arrays.matmul(share.swapaxes(-1, -2), dout)]


def _is_causal(mask=None):
    """Says whether each place sees itself and those before it: without a mask it does."""
    if mask is None:
        return True
    rows, columns = mask.shape[-2:]
    return mask.size == rows * columns and np.array_equal(mask.reshape(rows, columns) != 0, np.tri(rows, columns))


def _by_groups(x, keys):
    """Returns the rows of the heads that share one of keys behind each other."""
    return x.reshape([*keys.shape[:2], -1, x.shape[-1]])


def rotated(x, cosines, sines):
    """Turns the pairs of columns by the angles of their rows."""
    return launch("rotary_embedding_llama", "rotary_embedding", [x, cosines, sines],
                  [fresh(x.shape, x)], style="pairs")


# Optimizers: they write over what they are given.

def adamw(parameter, gradient, first, second, most, numbers, step):
    """Updates a parameter of any type with moments of any type."""
    state = [first, second] + ([most] if most is not None else [])
    seed = numbers.pop("rounding_seed", None)
    told = dict(numbers, step=step, amsgrad=most is not None)
    if seed is not None:
        told["rounding_seed"] = seed

    launch("adamw", "adamw", [parameter, gradient, *state], [parameter, *state], **told)


def sgd(parameter, gradient, buffer, numbers, first):
    """Updates a parameter and its momentum, if it has one."""
    state = [buffer] if buffer is not None else []
    launch("sgd_fused", "sgd", [parameter, gradient, *state], [parameter, *state],
           **dict(numbers, dampening=0.0 if first else numbers["dampening"]))
