# SPDX-License-Identifier: Apache-2.0
"""Turns a call into programs on the chip and values on the host."""

import functools
import inspect
import json
import sys
from typing import Any, Dict, List

from howard import _native

from . import _arrays as arrays
from ._analogies import NEAREST, PROGRAMS, PROGRAMS_WITH_SCALAR, SPELLED
from ._arguments import EVERYWHERE
from ._dispatch import queue_number
from ._session import session
from ._tensor import Tensor, device_tensor
from ._memory import DRAM_MEMORY_CONFIG
from ._types import DataType, Layout, chip_shape

OPERATIONS = {}
_depth = [0]
RECORDER = [None]  # of calls, while a graph is captured
HOOKS = [None]  # before and after calls, once some are registered
REPORTER = [None]  # of calls, where fast mode is off
GOLDEN_OF: List[Any] = [None]  # a function that knows the golden function of a name
_queue = [None]
_sub_device = [0]


class Operation:
    """Wraps a function of ttnn: it charges the host for a call from Python and says what went
    wrong."""

    def __init__(self, name, function, unread=None, refuses=None, everywhere=EVERYWHERE):
        self.__name__ = self.python_fully_qualified_name = "ttnn." + name
        self.name, self.function, self._golden = name, function, None
        self.preprocess_golden_function_inputs = self.postprocess_golden_function_outputs = None
        self.is_cpp_operation, self.is_experimental = True, name.startswith("experimental.")
        self.__doc__ = function.__doc__
        unread = dict.fromkeys(unread.split()) if isinstance(unread, str) else dict(unread or {})
        own = inspect.signature(function).parameters
        self._refused = dict(refuses or {})
        self.signature = _whole_signature(function, unread, self._refused)
        # These keywords do not reach the function, and these places among its arguments neither.
        self._apart = frozenset({*everywhere, *unread} - set(own)) | set(self._refused)
        self._places = sorted((at for at in unread.values() if at is not None), reverse=True)
        functools.update_wrapper(self, function, assigned=("__module__", "__doc__"), updated=())

    @property
    def golden_function(self):
        """Returns the function that was attached, or ttnn's own; None if there is none."""
        return self._golden or GOLDEN_OF[0](self.name)

    @golden_function.setter
    def golden_function(self, function):
        self._golden = function

    def __call__(self, *args, **kwargs):
        queue = sub_device = None
        if kwargs:
            queue = kwargs.get("queue_id", kwargs.get("cq_id"))
            sub_device = kwargs.get("sub_device_id", kwargs.get("subdevice_id"))
            if not self._apart.isdisjoint(kwargs):
                self._refuse(kwargs)
                kwargs = {k: v for k, v in kwargs.items() if k not in self._apart}
        for at in self._places:
            args = args[:at] + args[at + 1:]
        outermost = _depth[0] == 0
        _depth[0] += 1
        if outermost:
            if session.interrupted:
                _depth[0] = 0
                session.interrupted = False
                raise KeyboardInterrupt
            _queue[0] = None if queue is None else queue_number(queue)
            _sub_device[0] = 0 if sub_device is None else getattr(sub_device, "id", 0)
            device = _device_of(args, kwargs)
            if device is not None and device.is_open:
                device.charge_call()
        try:
            if outermost and (RECORDER[0] is not None or HOOKS[0] is not None):
                return self._watched(args, kwargs)
            return self.function(*args, **kwargs)
        except _native.Error as failure:
            raise RuntimeError(f"TT_FATAL @ ttnn.{self.name}: {failure}") from None
        except TypeError as failure:
            if failure.__traceback__.tb_next is not None:
                raise
            # The call itself has failed: the words or their number are wrong.
            text = str(failure).partition("() ")[2] or str(failure)
            raise TypeError(f"ttnn.{self.name}(): incompatible function arguments: it {text}; it "
                            f"takes {self.signature}") from None
        except (AttributeError, KeyError, ZeroDivisionError) as failure:
            if not is_ours(failure):
                raise
            # This is of our own making: an argument is not what it should be.
            raise TypeError(
                f"ttnn.{self.name}(): incompatible function arguments: {failure}; it takes "
                f"{self.signature}"
            ) from failure
        finally:
            _depth[0] -= 1

    def _refuse(self, kwargs):
        """Raises an error for a keyword that would change the result, and that is not computed."""
        for word, default in self._refused.items():
            given = kwargs.get(word, default)
            if isinstance(given, Tensor) or given != default:
                shown = "a tensor" if isinstance(given, Tensor) else repr(given)
                fail(self.name, f"{word}={shown} is not computed here: leave it at {default!r}")

    def _watched(self, args, kwargs):
        before, after = HOOKS[0] or ((), ())
        for hook in list(before):
            hook(self, args, kwargs)

        def plain():
            return self.function(*args, **kwargs)

        def call():
            return plain() if RECORDER[0] is None else RECORDER[0](self, plain, args, kwargs)

        made = call() if REPORTER[0] is None else REPORTER[0](self, call, args, kwargs)
        for hook in list(after):
            hook(self, args, kwargs, made)
        return made

    def __repr__(self):
        return f"<ttnn.{self.name}>"


def _device_of(args, kwargs):
    for one in args:
        if isinstance(one, Tensor):
            if one._device is not None:
                return one._device
        elif isinstance(one, (list, tuple)) and one and isinstance(one[0], Tensor):
            return one[0]._device
    for one in kwargs.values():
        if isinstance(one, Tensor) and one._device is not None:
            return one._device
    return None


def _whole_signature(function, unread, refused):
    """Returns what ttnn's function takes: what ours does, and what does not reach ours."""
    signature = inspect.signature(function)
    own = list(signature.parameters.values())
    at = len(own) - bool(own and own[-1].kind is inspect.Parameter.VAR_KEYWORD)
    apart = [inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=refused.get(word))
             for word in {**unread, **refused} if word not in signature.parameters]
    return signature.replace(parameters=own[:at] + apart + own[at:])


def is_ours(failure):
    """Says whether an error comes from this package, and not from a function that the script
    gave."""
    trace = failure.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in ("howard", "numpy"):
            return False
        trace = trace.tb_next
    return True


def operation(name=None, unread=None, refuses=None):
    """Makes a function one of ttnn's, under its own name or another. It need not take what is ttnn's
    without effect here: `unread` has the words, or also their places among the arguments. Nor what
    must stay at its default: `refuses` has the words and their defaults."""

    def register(function):
        full = name or function.__name__
        made = Operation(full, function, unread, refuses)
        OPERATIONS[full] = made
        return made

    return register


def fail(name, text):
    raise RuntimeError(f"TT_FATAL @ ttnn.{name}: {text}")


def require_device(name, *tensors, tile=False):
    """Returns the device that all are on. Raises an error for one on the host, released, or in rows
    where tiles are wanted."""
    device = None
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"ttnn.{name}(): incompatible function arguments: a {type(tensor).__name__} where a "
                "ttnn.Tensor is wanted"
            )
        if tensor._device is None:
            fail(name, f"Operands to {name} need to be on device: ttnn.to_device(tensor, device)")
        tensor._require_memory()
        if device is not None and tensor._device is not device:
            fail(name, "Operands need to be on the same device")
        if tile and tensor._layout is not Layout.TILE:
            fail(name, "Operands need to be in TILE layout: ttnn.to_layout(tensor, ttnn.TILE_LAYOUT)")
        device = tensor._device
    device.require_open()
    return device


def require_config(name, config, tensor):
    """Raises ttnn's error for a configuration of a norm, softmax or attention that does not fit the
    tensor's shards, or the device."""
    if config is not None:
        device = tensor._device
        device.chip.require_config(name, config.logged(), _number(tensor), device._grid())


def result_config(tensor, memory_config):
    """Returns where a result goes: as asked, else where the operand is."""
    if memory_config is not None:
        return memory_config
    return tensor._config if tensor._device is not None else DRAM_MEMORY_CONFIG


def make_output(shape, like, dtype=None, layout=None, memory_config=None, output=None):
    """Returns a tensor for a result, on the device of `like`, or the one that the caller gave. A
    result that is to be sharded, and nobody says how, has the shards of `like`."""
    if output is not None:
        output._require_memory()
        return output
    if memory_config is not None and memory_config.shard_spec is None and \
            memory_config.memory_layout is like._config.memory_layout and \
            like._config.shard_spec is not None and tuple(shape) == tuple(like._shape):
        memory_config = memory_config.with_shard_spec(like._config.shard_spec)
    small = like._storage.tile
    tile = small if small is not None and tuple(shape) == tuple(like._shape) else None
    return device_tensor(shape, dtype or like._dtype, layout or like._layout,
                         result_config(like, memory_config), like._device, None, like._topology, tile)


_TEXTS: Dict[Any, str] = {}


def _text(attributes):
    """Returns the attributes as JSON; most calls have what an earlier one had."""
    try:
        key = tuple(attributes.items())
        found = _TEXTS.get(key)
        if found is None:
            found = _TEXTS[key] = json.dumps(attributes, sort_keys=True, separators=(",", ":"))
        return found
    except TypeError:  # There is a list among them.
        return json.dumps(attributes, sort_keys=True, separators=(",", ":"))


def program(name, kernel, inputs, outputs, analogy=False, shapes=None, out_shapes=None,
            **attributes):
    """Launches one program. `shapes` is what the kernel sees of the operands, where it is not their
    own."""
    device = (inputs[0] if inputs else outputs[0])._device
    op = device.op_id(name, kernel, _text(attributes) if attributes else "{}", analogy)
    if shapes is None:
        ins = [_number(t) for t in inputs]
    else:
        ins = [_number(t, shape) for t, shape in zip(inputs, shapes)]
    if out_shapes is None:
        outs = [_number(t) for t in outputs]
    else:
        outs = [_number(t, shape) for t, shape in zip(outputs, out_shapes)]
    queue = _queue[0] if _queue[0] is not None else queue_number(None)
    if "seen" in attributes:  # The place of a decoding step is an argument of its program.
        rest = {word: told for word, told in attributes.items() if word != "seen"}
        same = device.op_id(name, kernel, _text(rest), analogy)
    else:
        same = op
    device.look_up((same, *[(t._shape._dims, t._storage.spec, t._dtype.index) for t in inputs],
                    *[(t._shape._dims, t._storage.spec, t._dtype.index) for t in outputs]))
    device.chip.call(op, ins, outs, queue, _sub_device[0])


def computed(name, kernel, inputs, outputs, shapes=None, out_shapes=None, **attributes):
    """Launches one program, whose values are what the host engine computes of it."""
    program(name, kernel, inputs, outputs, False, shapes, out_shapes, **attributes)
    if outputs[0]._device.values:
        values(engine(kernel, inputs, outputs, shapes, out_shapes, **attributes), inputs, outputs)


def engine(kernel, inputs, outputs, shapes=None, out_shapes=None, **attributes):
    """Returns a function that computes what such a program does, from an array for each input. The
    engine computes real numbers in float32. They are rounded after it, unless the kernel itself rounds."""
    text = _text(attributes) if attributes else "{}"
    kept = [one for one in DataType if one.whole or one.name == "BFLOAT16" and "rounding_seed" in attributes]
    ends = [[(chip_shape(t._shape if shape is None else shape),
              t._dtype.value if t._dtype in kept else "float32", t._layout is Layout.ROW_MAJOR)
             for t, shape in zip(tensors, seen or [None] * len(tensors))]
            for tensors, seen in ((inputs, shapes), (outputs, out_shapes))]
    in_place = [next((i for i, one in enumerate(inputs) if one is out), -1) for out in outputs]
    dims = [tuple(one._shape) for one in outputs]

    def compute(*given):
        made = arrays.computed(kernel, text, ends, in_place, given)
        return [one.reshape(shape) for one, shape in zip(made, dims)]

    return compute


def _number(tensor, shape=None):
    storage = tensor._storage
    if storage.number is None:
        tensor._require_memory()
    if shape is None:
        if storage.shape is tensor._shape:
            return storage.number
        shape = tensor._shape
    return storage.view(chip_shape(shape), tensor._dtype.chip, tensor._layout is Layout.ROW_MAJOR)


def values(compute, inputs, outputs, places=None, numbered=False):
    """Computes what the outputs hold: now, or at each replay while a trace is captured.

    `compute` takes an array for each input, of its shape, and gives one for each output, or one
    alone. It is asked once for each device of a mesh; where `places` is given, for these alone, and
    the others keep what they have. Where it is `numbered`, it takes the device's number last.
    """
    device = outputs[0]._device
    if device is not None and not device.values:
        return
    if device is None and not session.values:
        return
    if device is not None and len(outputs) == 1 and device.capture is None and \
            places is None and not numbered and device.get_num_devices() == 1:
        return _compute_now(compute, inputs, outputs[0])
    sources = [(t._storage.cell, tuple(t._shape), t._dtype.whole, t.num_shards()) for t in inputs]
    targets = [(t._storage.cell, t._dtype.value) for t in outputs]
    kept = [] if places is None else [
        (t._storage.cell, tuple(t._shape), t._dtype.whole, t.num_shards()) for t in outputs]
    count = device.get_num_devices() if device is not None else max(
        [s[3] for s in sources], default=1)

    alike = bool(sources) and places is None and not numbered

    def run():
        results, known = [[] for _ in targets], {}
        for i in range(count):
            # Devices that have the same arrays compute the same.
            key = tuple([_shard_id(source, i) for source in sources]) if alike else i
            if key not in known:
                known[key] = made_by(i)
            for result, array in zip(results, known[key]):
                result.append(array)
        for (cell, _), result in zip(targets, results):
            cell.shards = result

    def made_by(i):
        if places is not None and i not in places:
            made = [_shard(one, i) for one in kept]
        else:
            with arrays.quiet():
                made = compute(*[_shard(source, i) for source in sources], *([i] if numbered else []))
        if len(targets) == 1 and not isinstance(made, (list, tuple)):
            made = [made]
        return [arrays.rounded(array, dtype) for array, (_, dtype) in zip(made, targets)]

    if device is not None and device.capture is not None:
        device.record(run, [*inputs, *outputs])
        return
    run()


def written(writes, inputs, output, places=None):
    """Writes parts of what the output holds, now or at each replay, where values() would make all of it
    anew. `writes` takes the output's shape and an array for each input, and gives where each part
    begins, and what is there then. `places` are the devices; all where it is None."""
    device = output._device
    if not device.values:
        return
    sources = [(t._storage.cell, tuple(t._shape), t._dtype.whole, None) for t in inputs]
    cell, shape, count = output._storage.cell, tuple(output._shape), device.get_num_devices()
    kind = output._dtype

    def run():
        kept = list(cell.shards or [arrays.full(shape, 0.0, kind.whole)])
        kept += kept[:1] * (count - len(kept))
        cell.shards, groups = None, {}
        for i in range(count) if places is None else sorted(places):
            # Devices that have the same arrays keep one for all of them.
            key = (id(kept[i]), *[_shard_id(one, i) for one in sources])
            groups.setdefault(key, []).append(i)
        for members in groups.values():
            array = kept[members[0]]
            for i in members:
                kept[i] = None
            try:
                if sys.getrefcount(array) > 2 or array.base is not None or not array.flags.c_contiguous:
                    array = array.copy()  # It is not this output's alone.
                whole = array.reshape(shape)
                for starts, part in writes(shape, *[_shard(one, members[0]) for one in sources]):
                    ends = [start + size for start, size in zip(starts, part.shape)]
                    whole[tuple(map(slice, starts, ends))] = arrays.rounded(part, kind.value)
            finally:
                for i in members:
                    kept[i] = array
                cell.shards = kept

    if device.capture is not None:
        device.record(run, [*inputs, output])
    else:
        run()


def _compute_now(compute, inputs, output):
    """Does what values() does for most calls: one device, one result, no capture."""
    with arrays.quiet():
        made = compute(*[t.array() for t in inputs])
    if isinstance(made, (list, tuple)):
        made = made[0]
    unshared = sys.getrefcount(made) == 2  # This name and the argument.
    output._storage.cell.shards = [arrays.rounded(made, output._dtype.value, unshared)]


def _shard_id(source, i):
    """Returns what is equal for devices that have the same array."""
    shards = source[0].shards
    return None if shards is None else id(shards[i if i < len(shards) else 0])


def _shard(source, i):
    cell, shape, whole, _ = source
    if cell.shards is None:
        return arrays.full(shape, 0.0, whole)
    array = cell.shards[i if i < len(cell.shards) else 0]
    return array if array.shape == shape else array.reshape(shape)


# This says how many tensors and scalars each elementwise kernel of the emulator takes, and which
# kernel it is timed as if its own time was never measured.
_KERNELS = _native._ttnn.elementwise_values()


def values_of(kernel):
    """Returns how many tensors and scalars a kernel takes; 0 if there is none of that name."""
    return _KERNELS.get(kernel, (0, "", False))[0]


def kernel_of(name, count=1):
    """Returns the emulator's kernel for an elementwise function of `count` values, and whether it
    is only the nearest."""
    name = SPELLED.get(name, name)
    nearest = NEAREST.get((name, count)) or _KERNELS[name][1]
    return nearest or name, bool(nearest)


def launch_function(name, function, inputs, out, values, **attributes):
    """Launches the programs of an elementwise function of `values` values: tensors, and a scalar
    where there are fewer tensors."""
    scalar = len(inputs) < values
    spelled = {"pow": "power"}.get(function, function)
    if scalar and values == 2 and values_of(spelled) == 1:
        kernel, analogy, scalar = spelled, False, False
    else:
        kernel, analogy = kernel_of(function, values)
        scalar = len(inputs) < values_of(kernel)
    if scalar:
        attributes["scalar"] = 1
    count = PROGRAMS.get(function, 1)
    if len(inputs) < values:
        count = PROGRAMS_WITH_SCALAR.get(function, count)
    for word in ("on_a", "on_b", "then"):
        if attributes.get(word):
            attributes[word], own = steps_of([one[0] for one in attributes[word]])
            analogy = analogy or not own
        else:
            attributes.pop(word, None)
    for _ in range(count):
        program(name, kernel, inputs, [out], analogy, **attributes)


def axis_on_chip(axis, rank):
    """Returns where a dimension is among the four of the chip: leading ones are joined."""
    return max(0, axis + 4 - rank)


def on_chip(numbers, fill):
    """Returns numbers, one for each dimension, for the four of the chip; None where joined ones
    differ from `fill`."""
    numbers = list(numbers)
    if len(numbers) <= 4:
        return [fill] * (4 - len(numbers)) + numbers
    if any(n != fill for n in numbers[:-3]):
        return None
    return [fill] + numbers[-3:]


def steps_of(functions):
    """Returns the emulator's kernels of functions that are fused into another, and whether all are
    their own."""
    found = []
    for name in functions:
        kernel, analogy = kernel_of({"pow": "power"}.get(name, name))
        # What has a number for its second operand is a step of one instruction, as relu is.
        found.append((kernel, analogy) if values_of(kernel) == 1 else ("relu", True))
    return [name for name, _ in found], not any(analogy for _, analogy in found)
