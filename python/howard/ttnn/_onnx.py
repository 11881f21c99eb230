# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX model's inference as calls on the emulated chip: shapes and time, no values."""

import collections
import math

from . import _devices
from ._arrays import np
from ._launch import program
from ._session import region
from ._tensor import device_tensor, view_of
from ._memory import DRAM_MEMORY_CONFIG
from ._types import DataType, Layout

UNARY = {
    "Relu": "relu", "Gelu": "gelu", "Erf": "erf", "Exp": "exp", "Sqrt": "sqrt",
    "Reciprocal": "reciprocal", "Sigmoid": "~exp", "Tanh": "~exp", "Log": "~exp", "Abs": "~relu",
    "Neg": "~relu", "Clip": "~relu", "LeakyRelu": "~relu", "Elu": "~exp", "Selu": "~exp",
    "HardSigmoid": "~relu", "HardSwish": "~relu", "Softplus": "~exp", "Floor": "~relu",
    "Ceil": "~relu", "Round": "~relu", "Sign": "~relu", "Not": "~relu", "Sin": "~erf", "Cos": "~erf",
    "Mish": "~exp", "ThresholdedRelu": "~relu", "Softsign": "~exp", "IsNaN": "~relu",
}
BINARY = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "~multiply", "Pow": "~multiply",
    "Max": "~multiply", "Min": "~multiply", "Equal": "~multiply", "Greater": "~multiply",
    "Less": "~multiply", "GreaterOrEqual": "~multiply", "LessOrEqual": "~multiply",
    "And": "~multiply", "Or": "~multiply", "Xor": "~multiply", "Where": "~multiply",
    "PRelu": "~multiply", "Mod": "~multiply", "Sum": "add", "BatchNormalization": "~multiply",
}
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}
MOVES = {"Concat", "Split", "Slice", "Pad", "Expand", "Tile", "Gather", "GatherElements", "MaxPool",
         "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "DepthToSpace", "SpaceToDepth",
         "Resize", "Upsample", "Trilu", "TopK", "ArgMax", "CumSum", "ScatterND", "GatherND"}
SAME = {"Identity", "Dropout", "Cast", "CastLike"}
FOLDED = {"Constant", "Shape", "ConstantOfShape", "Range", "Size"}
REDUCTIONS = {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "~max",
              "ReduceL2": "~sum", "ReduceProd": "~sum"}


class ModelError(Exception):
    """Says what is wrong with a model, in words for a user."""


def load(path, inputs):
    """Returns the model with all shapes known. Raises ModelError for a file that is none, and for
    shapes that are open."""
    try:
        import onnx  # It is an optional package.
        import onnx.numpy_helper  # It is an optional package.
        import onnx.shape_inference  # It is an optional package.
    except ImportError:
        raise ModelError("ONNX models need the package python3-onnx: apt-get install python3-onnx"
                         ) from None
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as failure:  # These are protobuf's own errors, and the system's.
        raise ModelError(f"{path} is no ONNX model, or a part of one: {failure}") from None
    if not model.graph.node:
        raise ModelError(f"{path} is no ONNX model: its graph has no nodes")
    newest = onnx.defs.onnx_opset_version()
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version > newest:
            raise ModelError(f"{path} is of opset {opset.version}; the ONNX library knows {newest}: "
                             f"export it with opset_version={newest}")
    _set_inputs(model, inputs)
    try:
        while True:
            inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
            if not _fold_indices(onnx, model, inferred):
                return inferred
    except Exception as failure:
        reason = str(failure).strip().splitlines()
        raise ModelError(f"the shapes of {path} do not fit together: {reason[-1] if reason else ''}"
                         ) from None


def _known_shapes(graph):
    shapes = {}
    for one in list(graph.value_info) + list(graph.input) + list(graph.output):
        kind = one.type.tensor_type
        if kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim):
            shapes[one.name] = [d.dim_value for d in kind.shape.dim]
    return shapes


# Tensors of more elements than this are no shapes and indices.
_MOST_INDICES = 4096


def _fold_indices(onnx, model, inferred):
    """Computes what shapes and indices are made of, so that more shapes can be inferred."""
    shapes = _known_shapes(inferred.graph)
    values = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer
              if math.prod(one.dims) <= _MOST_INDICES and one.data_type in (6, 7) and
              not one.external_data}
    folded = []
    for node in model.graph.node:
        made = _index_value(onnx, node, values, shapes)
        if made is not None and made.size <= _MOST_INDICES:
            values[node.output[0]] = made
            folded.append(node)
    for node in folded:
        model.graph.node.remove(node)
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(values[node.output[0]], node.output[0]))
    return bool(folded)


def _index_value(onnx, node, values, shapes):
    """Returns what a node computes of whole numbers that are known; None where they are not."""
    told = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Constant":
        made = onnx.numpy_helper.to_array(told["value"]) if "value" in told else None
        return made if made is not None and made.dtype.kind == "i" else None
    if node.op_type == "Shape":
        found = shapes.get(node.input[0])
        return None if found is None else np.array(found, "int64")
    if not node.input or any(i and i not in values for i in node.input):
        return None
    given = [values[i] for i in node.input if i]
    if node.op_type in ("Add", "Sub", "Mul"):
        function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[node.op_type]
        return function(*given)
    if node.op_type == "Div":
        return given[0] // given[1] if np.all(given[1] > 0) else None
    if node.op_type == "Gather":
        return np.array(np.take(given[0], given[1], told.get("axis", 0)))
    if node.op_type == "Concat":
        return np.concatenate(given, told["axis"])
    if node.op_type in ("Unsqueeze", "Squeeze"):
        axes = tuple(given[1]) if len(given) > 1 else tuple(told.get("axes", ())) or None
        function = np.expand_dims if node.op_type == "Unsqueeze" else np.squeeze
        return function(given[0], axes)
    if node.op_type == "Cast":
        return given[0].astype("int64") if told["to"] in (6, 7) else None
    if node.op_type == "Identity":
        return given[0]
    if node.op_type == "Slice" and given[0].ndim == 1 and len(given) >= 3:
        step = int(given[4].item()) if len(given) > 4 else 1
        return given[0][int(given[1].item()):int(given[2].item()):step]
    return None


def _set_inputs(model, given):
    constants = {one.name for one in model.graph.initializer}
    wanted = {one.name: one for one in model.graph.input if one.name not in constants}
    for name in given:
        if name not in wanted:
            raise ModelError(f"the model has no input {name}: {', '.join(wanted)}")
    for name, value in wanted.items():
        dims = value.type.tensor_type.shape.dim
        if name in given:
            if len(dims) != len(given[name]):
                raise ModelError(f"input {name} has {len(dims)} dimensions, not {len(given[name])}")
            for dim, size in zip(dims, given[name]):
                dim.dim_value = size
        unknown = [d.dim_param or "?" for d in dims if d.dim_value < 1]
        if unknown:
            raise ModelError(f"input {name} has open dimensions ({', '.join(unknown)}): give "
                             f"--input {name}=" + "x".join(str(max(1, d.dim_value)) for d in dims))


class Runner:
    """Makes a call of each node, in their order."""

    def __init__(self, model, device):
        self.graph, self.device = model.graph, device
        self.shapes, self.kinds, self.tensors = {}, {}, {}
        self.constants = {one.name: tuple(one.dims) for one in self.graph.initializer}
        self.left_out, self.open, self.calls = collections.Counter(), 0, 0
        self.shapes.update(_known_shapes(self.graph))
        for one in list(self.graph.value_info) + list(self.graph.input) + list(self.graph.output):
            self.kinds[one.name] = one.type.tensor_type.elem_type
        self.shapes.update({name: list(dims) for name, dims in self.constants.items()})
        for one in self.graph.initializer:
            self.kinds[one.name] = one.data_type
        # What only shapes and indices are made of is known before the model runs.
        self.known = set(self.constants)

    def tensor(self, name, layout=Layout.TILE, dtype=DataType.BFLOAT16):
        """Returns the tensor of a value; weights and inputs are written when they are first
        used."""
        made = self.tensors.get(name)
        if made is None:
            made = self.tensors[name] = device_tensor(self.shapes[name], dtype, layout,
                                                      DRAM_MEMORY_CONFIG, self.device)
        return made

    def prepare(self):
        """Brings weights to the chip before anything is timed; inputs are written first of all."""
        uses = collections.Counter(i for node in self.graph.node for i in node.input)
        inputs = [one.name for one in self.graph.input]
        for name in list(self.constants) + inputs:
            if name in self.tensors or not uses[name] or self._is_small_index(name):
                continue
            if math.prod(self.shapes[name]) == 0:
                continue
            integer = self.kinds[name] in (6, 7)
            made = self.tensor(name, Layout.ROW_MAJOR if integer else Layout.TILE,
                               DataType.UINT32 if integer else DataType.BFLOAT16)
            if name in inputs:
                self.device.chip.write(made._storage.number, 0)

    def _is_small_index(self, name):
        return self.kinds.get(name) == 7 and name in self.constants and \
            len(self.shapes[name]) <= 1

    def run(self):
        last = {}
        for i, node in enumerate(self.graph.node):
            for name in node.input:
                last[name] = i
        kept = {one.name for one in self.graph.output} | set(self.constants)
        for i, node in enumerate(self.graph.node):
            self._node(node)
            for name in node.input:
                if last[name] == i and name not in kept:
                    self.tensors.pop(name, None)

    def _node(self, node):
        op = node.op_type
        inputs = [i for i in node.input if i]
        if op in FOLDED or (inputs and all(i in self.known for i in inputs) and op not in (
                "MatMul", "Gemm", "Conv")):
            self.known.update(node.output)
            self._fold(node)
            return
        if any(o not in self.shapes for o in node.output if o):
            self.open += 1
            self.left_out[op + " (its shape is not known)"] += 1
            return
        if any(math.prod(self.shapes[o]) == 0 for o in node.output if o):
            return
        make = getattr(self, "_" + op.lower(), None)
        missing = [i for i in inputs if i not in self.shapes]
        if missing:
            self.left_out[op + " (of a part that is left out)"] += 1
            return
        self.calls += 1
        if make is not None:
            return make(node, inputs)
        if op in UNARY:
            return self._launch(op, UNARY[op], inputs[:1], node.output[:1])
        if op in BINARY:
            return self._binary(node, inputs)
        if op in REDUCTIONS:
            return self._reduce(node, inputs)
        if op in VIEWS:
            return self._view(node, inputs)
        if op in MOVES:
            return self._move(node, inputs)
        if op in SAME:
            self.tensors[node.output[0]] = self.tensor(inputs[0])
            return None
        self.calls -= 1
        self.left_out[op] += 1
        return None

    def _fold(self, node):
        for name in node.output:
            self.shapes.setdefault(name, [])
            self.kinds.setdefault(name, 1)
            if name not in self.constants:
                self.constants[name] = tuple(self.shapes[name])

    def _launch(self, name, kernel, inputs, outputs, shapes=None, out_shapes=None, **attributes):
        ins = [self.tensor(i) for i in inputs]
        outs = [self.tensor(o) for o in outputs if o]
        program(name.lower(), kernel.lstrip("~"), ins, outs, kernel.startswith("~"), shapes,
                out_shapes, **attributes)

    def _binary(self, node, inputs):
        kernel = BINARY[node.op_type]
        out = self.shapes[node.output[0]]
        used = [i for i in inputs if math.prod(self.shapes[i]) > 1][:3] or inputs[:1]
        if node.op_type == "BatchNormalization":
            used = [inputs[0], inputs[0]]
        scalar = {"scalar": 1} if len(used) == 1 else {}
        shapes = [None if self._broadcasts(self.shapes[i], out) else out for i in used]
        self._launch(node.op_type, kernel, used, node.output[:1], shapes, **scalar)

    @staticmethod
    def _broadcasts(shape, out):
        return len(out) <= 4 and all(
            a in (1, b) for a, b in zip(list(shape)[::-1], list(out)[::-1]))

    def _matmul(self, node, inputs, **attributes):
        a, b = (list(self.shapes[i]) for i in inputs[:2])
        out = list(self.shapes[node.output[0]])
        a, b = ([1] + a if len(a) == 1 else a), (b + [1] if len(b) == 1 else b)
        rows, columns = (a[-1] if attributes.get("transpose_a") else a[-2],
                         b[-2] if attributes.get("transpose_b") else b[-1])
        batch = math.prod(out) // (rows * columns)
        fit_a = a if math.prod(a[:-2]) in (1, batch) else [batch] + a[-2:]
        fit_b = b if math.prod(b[:-2]) in (1, batch) else [batch] + b[-2:]
        fold = [self._folded(one) for one in (fit_a, fit_b)]
        self._launch(node.op_type, "matmul", inputs[:2], node.output[:1], fold,
                     [[batch, rows, columns]], **attributes)

    @staticmethod
    def _folded(shape):
        return [math.prod(shape[:-2]), shape[-2], shape[-1]]

    def _gemm(self, node, inputs):
        told = {a.name: a.i for a in node.attribute}
        attributes = {key: True for key, word in (("transpose_a", "transA"), ("transpose_b", "transB"))
                      if told.get(word)}
        self._matmul(node, inputs, **attributes)
        if len(inputs) > 2:
            out = node.output[0]
            program("add", "add", [self.tensor(out), self.tensor(inputs[2])], [self.tensor(out)])

    def _conv(self, node, inputs):
        """Launches the product that the chip makes of a convolution: places by window, window by
        channels."""
        weight, out = self.shapes[inputs[1]], self.shapes[node.output[0]]
        places, inner = out[0] * math.prod(out[2:]), math.prod(weight[1:])
        left = device_tensor([1, 1, places, inner], DataType.BFLOAT16, Layout.TILE,
                             DRAM_MEMORY_CONFIG, self.device)
        right = device_tensor([1, 1, inner, weight[0]], DataType.BFLOAT16, Layout.TILE,
                              DRAM_MEMORY_CONFIG, self.device)
        program("halo", "move", [self.tensor(inputs[0])], [left], True)
        program("conv", "matmul", [left, right], [self.tensor(node.output[0])], True,
                out_shapes=[[1, 1, places, weight[0]]])

    def _softmax(self, node, inputs):
        self._launch("softmax", "softmax", inputs[:1], node.output[:1])

    _logsoftmax = _softmax

    def _layernormalization(self, node, inputs):
        self._launch("layer_norm", "layernorm", inputs[:1], node.output[:1])

    def _instancenormalization(self, node, inputs):
        self._launch("instance_norm", "~layernorm", inputs[:1], node.output[:1])

    def _transpose(self, node, inputs):
        order = next((list(a.ints) for a in node.attribute if a.name == "perm"), None)
        rank = len(self.shapes[inputs[0]])
        order = order or list(range(rank))[::-1]
        if order == list(range(rank)):
            self.tensors[node.output[0]] = self.tensor(inputs[0])
        elif rank <= 4 and order == list(range(rank - 2)) + [rank - 1, rank - 2]:
            self._launch("transpose", "transpose", inputs, node.output, swap="rows_columns")
        elif rank in (3, 4) and order == list(range(rank - 3)) + [rank - 2, rank - 3, rank - 1]:
            self._launch("transpose", "transpose", inputs, node.output, swap="heads_rows")
        else:
            self._launch("permute", "~move", inputs, node.output)

    def _reduce(self, node, inputs):
        shape, out = self.shapes[inputs[0]], self.shapes[node.output[0]]
        kernel = REDUCTIONS[node.op_type]
        if math.prod(out) == math.prod(shape[:-1]):
            self._launch(node.op_type, kernel, inputs[:1], node.output[:1], None,
                         [list(shape[:-1]) + [1]], dimension="columns")
        elif math.prod(out) == 1:
            self._launch(node.op_type, kernel, inputs[:1], node.output[:1], None, [[1]],
                         dimension="all")
        else:
            self._launch(node.op_type, "~move", inputs[:1], node.output[:1])

    def _view(self, node, inputs):
        old, new = self.shapes[inputs[0]], self.shapes[node.output[0]]
        stays = old[-1:] == new[-1:] and (old[-2:-1] == new[-2:-1] or
                                          (old[-2:-1] and new[-2:-1] and old[-2] % 32 == 0 and
                                           new[-2] % 32 == 0))
        if stays:
            self.tensors[node.output[0]] = view_of(self.tensor(inputs[0]), new)
        else:
            self._launch("reshape", "reshape", inputs[:1], node.output[:1])

    def _gather(self, node, inputs):
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        table = self.shapes[inputs[0]]
        if axis == 0 and inputs[0] in self.constants and len(table) == 2 and \
                inputs[1] not in self.known:
            rows = self.tensor(inputs[1], Layout.ROW_MAJOR, DataType.UINT32)
            program("embedding", "embedding", [rows, self.tensor(inputs[0])],
                    [self.tensor(node.output[0])])
        else:
            self._move(node, inputs)

    def _move(self, node, inputs):
        used = [i for i in inputs if i not in self.known][:4] or inputs[:1]
        for out in node.output:
            if out:
                self._launch(node.op_type, "~move", used, [out])


def run(path, inputs):
    """Runs the model once on a device and returns what was left out, by op."""
    model = load(path, inputs)
    device = _devices.open_device(device_id=0)
    runner = Runner(model, device)
    runner.prepare()
    device.synchronize()
    with region("inference"):
        runner.run()
        device.synchronize()
    device.close()
    return runner, len(model.graph.node)
