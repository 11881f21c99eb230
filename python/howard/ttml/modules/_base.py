# SPDX-License-Identifier: Apache-2.0
"""Implements modules: parts with names, and the tensors that they train."""

import enum
from collections import deque

from ..autograd import RunMode, Tensor
from ..init import TensorMetadata

InferenceMode = enum.Enum("InferenceMode", "PREFILL DECODE", start=0)

LAZY_PARAMETER_ACCESS_MSG = ("the parameter is not allocated: lazy_init() describes it, and "
                             "materialize_module(module) allocates it")


class NamedParameters(dict):
    """Holds tensors by their names."""


class Parameter:
    """Holds a tensor that is trained, or what is to become one."""

    def __init__(self, tensor):
        self._tensor, self._callbacks = tensor, []
        if isinstance(tensor, Tensor):
            tensor.set_requires_grad(True)

    @property
    def is_lazy(self):
        return isinstance(self._tensor, TensorMetadata)

    @property
    def tensor(self):
        if self.is_lazy:
            raise RuntimeError(LAZY_PARAMETER_ACCESS_MSG)
        return self._tensor

    @tensor.setter
    def tensor(self, tensor):
        self._tensor = tensor

    def peek_tensor(self):
        return self._tensor

    def add_post_materialize_callback(self, function):
        self._callbacks.append(function)

    def materialize(self, mapper=None):
        if self.is_lazy:
            self._tensor = self._tensor.materialize(mapper)
            for function in self._callbacks:
                function(self._tensor)


class Buffer:
    """Holds a tensor that belongs to a module and is not trained."""

    def __init__(self, tensor):
        self.tensor = tensor


class AbstractModuleBase:
    """Represents a module: parameters and other modules that are assigned to it become parts of
    it."""

    def __init__(self):
        self.__dict__.setdefault("_parts", {})
        self._run_mode = RunMode.TRAIN

    def __setattr__(self, name, value):
        parts = self.__dict__.setdefault("_parts", {})
        if isinstance(value, (Parameter, Buffer, Tensor, AbstractModuleBase)):
            parts[name] = value
        else:
            parts.pop(name, None)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self._parts.pop(name, None)
        object.__delattr__(self, name)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def create_name(self, name):
        self.__dict__["_name"] = name

    def get_name(self):
        return self.__dict__.get("_name", type(self).__name__)

    def register_module(self, module, name):
        setattr(self, name, module)

    register_tensor = override_tensor = override_module = register_module

    # What it has.

    def _own(self, kind):
        return [(name, part) for name, part in sorted(self._parts.items()) if isinstance(part, kind)]

    def _walk(self, prefix, dot):
        """Yields modules with their names, breadth first and by the alphabet."""
        todo, seen = deque([(prefix, self)]), {id(self)}
        while todo:
            name, module = todo.popleft()
            yield name, module
            for child, part in module._own(AbstractModuleBase):
                if id(part) not in seen:
                    seen.add(id(part))
                    todo.append((f"{name}{dot}{child}" if name else child, part))

    def _tensors(self, prefix, dot):
        seen = set()
        for path, module in self._walk(prefix, dot):
            for name, part in module._own((Parameter, Tensor)):
                tensor = part.peek_tensor() if isinstance(part, Parameter) else part
                if not isinstance(tensor, Tensor) or id(tensor) in seen:
                    continue
                seen.add(id(tensor))
                yield (f"{path}{dot}{name}" if path else name), tensor

    def parameters(self):
        """Returns the tensors by their names, "Model/layer/weight", each once."""
        return NamedParameters(self._tensors(self.get_name(), "/"))

    def named_parameters(self):
        return NamedParameters(self._tensors("", "."))

    def state_dict(self):
        return dict(self._tensors("", "."))

    def named_modules(self):
        return list(self._walk("", "."))

    def modules(self):
        return [module for _, module in self._walk("", ".")]

    def named_children(self):
        return self._own(AbstractModuleBase)

    def children(self):
        return [module for _, module in self.named_children()]

    def named_buffers(self):
        return [(f"{path}.{name}" if path else name, part.tensor)
                for path, module in self._walk("", ".") for name, part in module._own(Buffer)]

    def buffers(self):
        return [tensor for _, tensor in self.named_buffers()]

    # How it runs.

    def set_run_mode(self, mode):
        for module in self.modules():
            module.__dict__["_run_mode"] = mode

    def get_run_mode(self):
        return self.__dict__.get("_run_mode", RunMode.TRAIN)

    def train(self):
        self.set_run_mode(RunMode.TRAIN)

    def eval(self):
        self.set_run_mode(RunMode.EVAL)


ModuleBase = AbstractModuleBase


class ModuleList(AbstractModuleBase):
    """Holds modules in their order; they are called "0", "1" and so on."""

    def __init__(self, modules=()):
        super().__init__()
        self.__dict__["_list"] = []
        self.extend(modules)

    def _renumber(self, modules):
        for i in range(len(self._list)):
            self._parts.pop(str(i), None)
        self.__dict__["_list"] = list(modules)
        for i, module in enumerate(self._list):
            self._parts[str(i)] = module

    def append(self, module):
        self._renumber(self._list + [module])
        return self

    def extend(self, modules):
        self._renumber(self._list + list(modules))
        return self

    def insert(self, index, module):
        modules = list(self._list)
        modules.insert(index, module)
        self._renumber(modules)

    def pop(self, index=-1):
        modules = list(self._list)
        found = modules.pop(index)
        self._renumber(modules)
        return found

    def __iter__(self):
        return iter(self._list)

    def __len__(self):
        return len(self._list)

    def __contains__(self, module):
        return module in self._list

    def __getitem__(self, index):
        found = self._list[index]
        return ModuleList(found) if isinstance(index, slice) else found

    def __setitem__(self, index, module):
        modules = list(self._list)
        modules[index] = module
        self._renumber(modules)

    def __delitem__(self, index):
        modules = list(self._list)
        del modules[index]
        self._renumber(modules)


class ModuleDict(AbstractModuleBase):
    """Holds modules by their keys."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key):
        return self._parts[key]

    def __setitem__(self, key, module):
        self._parts[key] = module

    def __delitem__(self, key):
        del self._parts[key]

    def __contains__(self, key):
        return key in self._parts

    def __iter__(self):
        return iter(self._parts)

    def __len__(self):
        return len(self._parts)

    def get(self, key, default=None):
        return self._parts.get(key, default)

    def update(self, modules):
        self._parts.update(modules)

    def pop(self, key):
        return self._parts.pop(key)

    def clear(self):
        self._parts.clear()

    def keys(self):
        return self._parts.keys()

    def values(self):
        return self._parts.values()

    def items(self):
        return self._parts.items()


def materialize_module(root, mesh_device=None, layout_plan=None, on_device_init=False):
    """Allocates the parameters that lazy_init() has described, in the order of the modules."""
    for _, module in root._walk("", "."):
        for _, part in module._own(Parameter):
            part.materialize()
    return root
