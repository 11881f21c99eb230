# SPDX-License-Identifier: Apache-2.0
"""Replays the functions of TTML, whose formulas stand in C++ (engines/autograd).

C++ runs a function once on a device that only notes the programs. Here each program becomes a call of
ttnn on the tensors of the script, forward now and backward when the graph comes to it.
"""

import functools
from typing import Any, Dict

import howard.ttnn as ttnn
from howard import _native
from howard.ttnn import DataType, Layout, _launch
from howard.ttnn._launch import computed
from howard.ttnn._tensor import device_tensor
from howard.ttnn._types import chip_shape

from ._graph import GradMode, context, from_python
from .autograd import AutocastTensor, Tensor, get_links


def products():
    """Returns how TTML multiplies: on 7 by 8 cores, or all that the device has where those do not fit,
    with all passes over the mantissa and sums in float32."""
    return {"core_grid": ttnn.CoreGrid(x=7, y=8),
            "compute_kernel_config": ttnn.WormholeComputeKernelConfig(
                math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)}


def fresh(shape, like, dtype=None, layout=Layout.TILE):
    """Returns memory for a result of four dimensions, in the rank of `like` where its leading ones are
    the same."""
    own = like._shape
    if len(own) not in (1, 4) and tuple(shape[:-1]) == tuple(chip_shape(own)[:-1]):
        shape = [*own[:-1], shape[-1]]
    return device_tensor(shape, dtype or like._dtype, layout, None, like._device,
                         topology=like._topology)


def launch(name, kernel, inputs, outs, **attributes):
    """Launches a program, and returns its results."""
    computed(name, kernel, inputs, outs, **attributes)
    return outs if len(outs) > 1 else outs[0]


# What TTML calls its kernels, where that is not our name.
_NAMES = {"ttml_layernorm": "layernorm_fw", "layernorm_backward": "layernorm_bw",
          "ttml_rms_norm": "rmsnorm_fw", "rms_norm_backward": "rmsnorm_bw",
          "cross_entropy": "cross_entropy_fw", "cross_entropy_backward": "cross_entropy_bw",
          "nll_loss": "moreh_nll_loss", "nll_loss_backward": "moreh_nll_loss_backward",
          "rotary_embedding": "rotary_embedding_llama", "swiglu_backward": "swiglu_elemwise_bw",
          "softmax_backward": "moreh_softmax_backward", "sgd": "sgd_fused",
          "sdpa_bw_q": "sdpa_q_bw", "sdpa_bw_kv": "sdpa_kv_bw"}
_TYPES = {dtype.value: dtype for dtype in DataType}


def _own_kernel(kernel, fields, outs):
    """Returns a call of a kernel of TTML, with memory for those results that are no operands."""
    ends = [(shape, _TYPES[dtype], Layout.ROW_MAJOR if rows else Layout.TILE)
            for _, shape, dtype, rows in outs]

    name = _NAMES.get(kernel, kernel)

    def call(given, found):
        made = [fresh(end[0], given[0], *end[1:]) if found is None or found[i] is None else found[i]
                for i, end in enumerate(ends)]
        return launch(name, kernel, given, made, **fields)

    return call


def _matmul(fields, ins, outs):
    told = {word: fields[word] for word in ("transpose_a", "transpose_b")} | products()

    def call(given, found):
        if len(given) > 2:
            return ttnn.linear(given[0], given[1], bias=given[2], **told)
        return ttnn.matmul(*given, **told)

    return call


def _reduction(kind):
    def make(fields, ins, outs):
        before, after = ins[0][1], outs[0][1]
        if fields["moreh"]:
            return lambda given, found: launch(
                "moreh_" + kind, kind, given, [fresh(after, given[0])], **fields)
        differing = [i for i in range(4) if before[i] != after[i]] or [0]
        dims = {"columns": [3], "rows": [2], "all": None}.get(fields["dimension"], differing)

        def call(given, found):
            x = given[0]
            if fields["dimension"] == "batch" and len(x.shape) != 4:
                x = ttnn.reshape(x, list(before))
            return getattr(ttnn, kind)(x, dims if dims is None else [i - 4 for i in dims], True)

        return call

    return make


def _slice(fields, ins, outs):
    begins = list(fields["begins"])
    ends = [first + size for first, size in zip(begins, outs[0][1])]
    return lambda given, found: ttnn.slice(given[0], begins, ends)


def _pad(fields, ins, outs):
    around = [(first, size - first - own)
              for first, own, size in zip(fields["before"], ins[0][1], outs[0][1])]
    return lambda given, found: ttnn.pad(given[0], around, fields["value"])


def _transpose(fields, ins, outs):
    swapped = (-2, -1) if fields["swap"] == "rows_columns" else (1, 2)
    return lambda given, found: ttnn.transpose(given[0], *swapped)


def _heads(given, heads, groups):
    return ttnn.experimental.nlp_create_qkv_heads(*given, num_heads=heads, num_kv_heads=groups or heads,
                                                  transpose_k_heads=False)


_CALLS = {
    "matmul": _matmul, "sum": _reduction("sum"), "mean": _reduction("mean"), "slice": _slice,
    "pad": _pad, "transpose": _transpose,
    "softmax": lambda fields, ins, outs: lambda given, found: ttnn.softmax(given[0], -1),
    "reshape": lambda fields, ins, outs: lambda given, found: ttnn.reshape(given[0], list(outs[0][1])),
    "concat": lambda fields, ins, outs: lambda given, found: ttnn.concat(given, fields["dimension"]),
    "repeat": lambda fields, ins, outs: lambda given, found: ttnn.repeat_interleave(
        given[0], outs[0][1][1] // ins[0][1][1], 1),
    "concat_heads": lambda fields, ins, outs: lambda given, found:
        ttnn.experimental.nlp_concat_heads(given[0]),
    "split_heads": lambda fields, ins, outs: lambda given, found: _heads(
        given, fields["heads"], fields["groups"]),
    "split_groups": lambda fields, ins, outs: lambda given, found: _heads(
        given, fields["heads"], fields["groups"]),
    "gelu_backward": lambda fields, ins, outs: lambda given, found: ttnn.experimental.gelu_bw(
        given[1], given[0], approximate="none"),
    "silu_backward": lambda fields, ins, outs: lambda given, found: ttnn.silu_bw(given[1], given[0]),
    "cast": lambda fields, ins, outs: lambda given, found: ttnn.typecast(
        given[0], _TYPES[outs[0][2]]),
    "clamp": lambda fields, ins, outs: lambda given, found: ttnn.clamp(
        given[0], min=fields["numbers"][0], max=fields["numbers"][1]),
}


def _elementwise(kernel, fields, outs):
    """Returns a call of an elementwise function. TTML has new memory for each result; a copy to the place
    of an operand, which is the sum with 0, is the tensor itself."""
    scalar = [fields["scalar"]] if "scalar" in fields else []
    if kernel == "add" and scalar == [0.0]:
        return lambda given, found: given[0]
    function, told = getattr(ttnn, kernel), {}
    if "on_a" in fields:
        told["input_tensor_a_activations"] = [ttnn.UnaryOpType[name.upper()] for name in fields["on_a"]]
    return lambda given, found: function(*given, *scalar, **told)


def _call_of(kernel, fields, ins, outs):
    if kernel in _CALLS:
        return _CALLS[kernel](fields, ins, outs)
    if "numbers" in fields:
        return _elementwise(kernel, fields, outs)
    return _own_kernel(kernel, fields, outs)


class Steps:
    """Holds programs as calls, and says when each tensor is read for the last time."""

    def __init__(self, programs, shapes, operands, kept):
        """`shapes` has the shape of each tensor by its number, to which those of results are added;
        the first ones are the operands'. `kept` has the numbers that outlive the steps."""
        made, self._steps = set(), []
        for kernel, fields, ins, outs in programs:
            if kernel == "fill":
                _, shape, dtype, _ = outs[0]
                like = next((n for n in range(operands) if shapes[n] == shape), None)
                call, inputs = _filled(fields["scalar"], shape, _TYPES[dtype], like), [(like or 0, None)]
            else:
                call = _call_of(kernel, fields, ins, outs)
                inputs = [(n, None if shapes[n] == shape else list(shape)) for n, shape, *_ in ins]
            numbers = [n for n, *_ in outs]
            in_place = any(n in shapes for n in numbers)
            made.update(n for n in numbers if n not in shapes)
            for n, shape, *_ in outs:
                shapes.setdefault(n, shape)
            self._steps.append([call, inputs, numbers, in_place, []])
        self.read = {n for _, inputs, *_ in self._steps for n, _ in inputs}
        left = made - set(kept)
        for step in reversed(self._steps):
            last = left & {n for n, _ in step[1]} | left & set(step[2])
            step[-1] = list(last)
            left -= last
        self.read -= made

    def run(self, tensors):
        """Makes the calls on tensors by number, adds the results, and drops what is read no more."""
        for call, inputs, outs, in_place, last in self._steps:
            given = [tensors[n] if shape is None else ttnn.reshape(tensors[n], shape)
                     for n, shape in inputs]
            made = call(given, [tensors.get(n) for n in outs] if in_place else None)
            if isinstance(made, (list, tuple)):
                tensors.update(zip(outs, made))
            else:
                tensors[outs[0]] = made
            made = given = None
            for n in last:
                del tensors[n]


def _filled(number, shape, dtype, like):
    if like is not None:
        return lambda given, found: ttnn.full_like(given[0], number, dtype=dtype)
    return lambda given, found: ttnn.full(list(shape), number, dtype, Layout.TILE, given[0].device())


def described(value):
    return chip_shape(value.shape), value.dtype.value, value.layout is Layout.ROW_MAJOR


@functools.lru_cache(maxsize=512)
def step_of(kind, numbers, parameter, gradient):
    """Returns the steps by which an optimizer changes a parameter, and the numbers of what it keeps:
    the parameter is 0, and its gradient 1. `numbers` is JSON."""
    programs, kept = _native._ttml.step(kind, numbers, parameter, gradient)
    shapes = {0: parameter[0], 1: gradient[0], **{n: parameter[0] for n in kept}}
    return Steps(programs, shapes, 2, [0, *kept]), kept


class _Plan:
    """Holds what a function computes for operands of certain shapes and types."""

    def __init__(self, name, operands, wanted, numbers):
        forward, backward, results, self.incoming, self.gradients = _native._ttml.plan(
            name, [described(one) for one in operands], wanted, numbers)
        shapes = {i: chip_shape(one.shape) for i, one in enumerate(operands)}
        shapes.update(zip(self.incoming, (end[1] for end in results)))
        needed = {n for _, _, ins, _ in backward for n, *_ in ins} | \
            {end[0] for end in self.gradients.values()}
        self.forward = Steps(forward, shapes, len(operands), needed | {end[0] for end in results})
        self.results = [(end[0], None if shapes[end[0]] == end[1] else list(end[1])) for end in results]
        known = set(shapes) - set(self.incoming)
        self.backward = Steps(backward, shapes, len(operands),
                              {end[0] for end in self.gradients.values()})
        self.saved = (needed | self.backward.read) & known


_plans: Dict[Any, Any] = {}
_MOST = 4096  # A function whose numbers change from call to call has a plan for each of them.


def _new_plan(key, name, operands, numbers):
    if len(_plans) == _MOST:
        _plans.clear()
    made = _plans[key] = _Plan(name, operands, [one[3] for one in key[2:]], numbers)
    return made


def is_recorded(tensors):
    """Says whether what is made of tensors has a way back."""
    return context().get_gradient_mode() is GradMode.ENABLED and any(
        t.get_requires_grad() for t in tensors)


def planned(name, operands, *numbers, fixed=()):
    """Returns what a function of C++ makes of tensors, with their graph: a tensor, or a tuple of them.
    Operands of ttnn have no gradient, and neither have those of the places in `fixed`."""
    enabled, requires = context().get_gradient_mode() is GradMode.ENABLED, False
    inputs, given, described_by = [], [], [name, numbers]
    for i, x in enumerate(operands):
        wanted = False
        if isinstance(x, Tensor):
            inputs.append(x)
            requires = requires or x._requires_grad
            wanted = enabled and x._requires_grad and i not in fixed
            x = x.half()
        elif isinstance(x, AutocastTensor):
            x = x.get_tensor()
        given.append(x)
        described_by.append((x._shape._dims, x._dtype.index, x._layout is Layout.TILE, wanted))
    key = tuple(described_by)
    plan = _plans.get(key) or _new_plan(key, name, given, numbers)
    tensors = dict(enumerate(given))
    given = x = None
    plan.forward.run(tensors)
    outs = [Tensor(tensors[n] if shape is None else ttnn.reshape(tensors[n], shape), requires)
            for n, shape in plan.results]
    if enabled and requires:
        kept = {n: tensors[n] for n in plan.saved}
        _add_node(plan, kept, list(operands), outs, get_links(inputs))
    return outs[0] if len(outs) == 1 else tuple(outs)


def _add_node(plan, kept, operands, outs, links):
    """Adds the way back. Where the script itself made the calls, one by one, so it makes them there."""
    apart = _launch._depth[0] == 0

    def run():
        if not any(out.is_grad_initialized() for out in outs):
            return
        tensors = dict(kept)
        for n, out in zip(plan.incoming, outs):
            tensors[n] = out.get_grad() if out.is_grad_initialized() else ttnn.zeros_like(out.own())
        if apart:
            from_python(plan.backward.run, tensors)
        else:
            plan.backward.run(tensors)
        for i, (n, shape, *_) in plan.gradients.items():
            gradient, wanted = tensors[n], operands[i].shape()
            operands[i].add_grad(gradient if list(gradient.shape) == wanted else
                                 ttnn.reshape(gradient, wanted))

    first = context().add_backward_node(run, links)
    outs[0].set_node(first)
    for out in outs[1:]:
        out.set_node(context().add_backward_node(lambda: None, [first]))
