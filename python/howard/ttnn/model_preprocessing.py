# SPDX-License-Identifier: Apache-2.0
"""Implements ttnn.model_preprocessing: parameters of torch's modules as tensors of ttnn."""

import inspect

from ._operations.core import from_torch, to_device
from ._tensor import Tensor
from ._types import DataType, Layout, MathFidelity


class ParameterDict(dict):
    """Holds a dictionary whose entries are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no parameter '{name}': {', '.join(map(str, self))}"
                                 ) from None

    def __setattr__(self, name, value):
        self[name] = value

    __delattr__ = dict.__delitem__  # type: ignore[assignment]


class ParameterList(list):
    pass


def make_parameter_dict(dictionary):
    if isinstance(dictionary, dict):
        return ParameterDict({k: make_parameter_dict(v) for k, v in dictionary.items()})
    return dictionary


def preprocess_linear_weight(weight, *, dtype, layout=Layout.TILE, weights_mesh_mapper=None):
    """Returns [out, in] of torch as [in, out]."""
    return from_torch(weight.T.contiguous(), dtype=dtype, layout=layout,
                      mesh_mapper=weights_mesh_mapper)


def preprocess_linear_bias(bias, *, dtype, layout=Layout.TILE, weights_mesh_mapper=None):
    return from_torch(bias.reshape((1, -1)), dtype=dtype, layout=layout,
                      mesh_mapper=weights_mesh_mapper)


def preprocess_layernorm_parameter(parameter, *, dtype, layout=Layout.TILE,
                                   weights_mesh_mapper=None):
    return from_torch(parameter.reshape((1, -1)), dtype=dtype, layout=layout,
                      mesh_mapper=weights_mesh_mapper)


def preprocess_embedding_weight(weight, *, dtype, layout=Layout.ROW_MAJOR, weights_mesh_mapper=None):
    return from_torch(weight, dtype=dtype, layout=layout, mesh_mapper=weights_mesh_mapper)


def fold_batch_norm2d_into_conv2d(conv, bn):
    """Returns the weight and the bias of a convolution whose results are then normalised."""
    scale = bn.weight / (bn.running_var + bn.eps).sqrt()
    weight = conv.weight * scale[:, None, None, None]
    bias = conv.bias if conv.bias is not None else 0
    bias = (bias - bn.running_mean) * scale + bn.bias
    return weight, bias.reshape(1, 1, 1, -1)


def default_preprocessor(model, name, mesh_mapper=None):
    """Returns the parameters of a module that torch has; None for others."""
    import torch  # A script may do without torch.

    parameters = {}
    mapper = {"weights_mesh_mapper": mesh_mapper}
    if isinstance(model, torch.nn.Linear):
        parameters["weight"] = preprocess_linear_weight(model.weight, dtype=DataType.BFLOAT16,
                                                        **mapper)
        if model.bias is not None:
            parameters["bias"] = preprocess_linear_bias(model.bias, dtype=DataType.BFLOAT16,
                                                        **mapper)
    elif isinstance(model, torch.nn.Conv2d):
        parameters["weight"] = from_torch(model.weight, dtype=DataType.BFLOAT16)
        if model.bias is not None:
            parameters["bias"] = from_torch(model.bias.reshape(1, 1, 1, -1),
                                            dtype=DataType.BFLOAT16)
    elif isinstance(model, (torch.nn.LayerNorm, torch.nn.GroupNorm)):
        for one in ("weight", "bias"):
            if getattr(model, one, None) is not None:
                parameters[one] = preprocess_layernorm_parameter(
                    getattr(model, one), dtype=DataType.BFLOAT16, **mapper)
    elif isinstance(model, torch.nn.Embedding):
        parameters["weight"] = preprocess_embedding_weight(model.weight, dtype=DataType.BFLOAT16,
                                                           **mapper)
    else:
        return None
    return make_parameter_dict(parameters)


def _customised(custom, model, name, ttnn_module_args, convert_to_ttnn):
    """Returns what the script's own function makes of a module; it is told what it asks for."""
    told = {"model": model, "name": name, "ttnn_module_args": ttnn_module_args,
            "convert_to_ttnn": convert_to_ttnn, "custom_preprocessor_func": custom}
    asked = list(inspect.signature(custom).parameters)
    if set(asked) <= set(told):
        return custom(**{word: told[word] for word in asked})
    return custom(model, name) if len(asked) == 2 else custom(
        model, name, ttnn_module_args, convert_to_ttnn)


def convert_torch_model_to_ttnn_model(model, *, convert_to_ttnn=None, custom_preprocessor=None, name="",
                                      ttnn_module_args=None):
    """Returns the parameters of a module, and of the modules within it, by their names."""
    import torch  # A script may do without torch.

    def inner(child, own):
        key = int(own) if own.isdigit() else own
        return convert_torch_model_to_ttnn_model(
            child, convert_to_ttnn=convert_to_ttnn, custom_preprocessor=custom_preprocessor,
            name=f"{name}.{own}" if name else own,
            ttnn_module_args=ttnn_module_args.get(key) if isinstance(ttnn_module_args, dict) else None)

    if custom_preprocessor is not None:
        made = _customised(custom_preprocessor, model, name, ttnn_module_args, convert_to_ttnn)
        if made:
            return make_parameter_dict(made)
    if isinstance(model, (torch.nn.ModuleList, torch.nn.Sequential)):
        return ParameterList(inner(child, str(i)) for i, child in enumerate(model.children()))
    plain = default_preprocessor(model, name)
    if plain is not None and (convert_to_ttnn is None or convert_to_ttnn(model, name)):
        return plain
    parameters = {}
    for own, child in model.named_children():
        made = inner(child, own)
        if made:
            parameters[own] = made
    for own, value in list(model.named_parameters(recurse=False)) + list(
            model.named_buffers(recurse=False)):
        if convert_to_ttnn is None or convert_to_ttnn(model, name):
            parameters[own] = from_torch(value)
        else:
            parameters[own] = value
    return ParameterDict(parameters)


def move_to_device(object_, device):
    """Brings all parameters to the device."""
    if isinstance(object_, ParameterDict):
        return ParameterDict({k: v if k in ("model_config", "ttnn_module_args") else move_to_device(v, device)
                              for k, v in object_.items()})
    if isinstance(object_, (ParameterList, list)):
        return ParameterList(move_to_device(one, device) for one in object_)
    if isinstance(object_, Tensor):
        return to_device(object_, device)
    return object_


def preprocess_model_parameters(model_name=None, *, version=None, initialize_model=None,
                                convert_to_ttnn=None, custom_preprocessor=None, device=None,
                                prefix="", run_model=None, reader_patterns_cache=None,
                                ttnn_module_args=None):
    """Returns the parameters of a module, and of the modules within it, by their names."""
    import torch  # A script may do without torch.

    with torch.no_grad():
        model = initialize_model()
        if hasattr(model, "eval"):
            model.eval()
        if run_model is not None:
            ttnn_module_args = _without_device(
                infer_ttnn_module_args(model=model, run_model=run_model, device=device))
        parameters = convert_torch_model_to_ttnn_model(
            model, convert_to_ttnn=convert_to_ttnn, custom_preprocessor=custom_preprocessor,
            name=prefix, ttnn_module_args=ttnn_module_args)
        if run_model is not None:
            _attach_args(parameters, ttnn_module_args)
    return parameters if device is None else move_to_device(parameters, device)


def preprocess_model(model_name=None, *, initialize_model=None, convert_to_ttnn=None,
                     custom_preprocessor=None, device=None, prefix="", run_model=None, **options):
    return preprocess_model_parameters(
        model_name, initialize_model=initialize_model, convert_to_ttnn=convert_to_ttnn,
        custom_preprocessor=custom_preprocessor, device=device, prefix=prefix, run_model=run_model,
        **options)


class ModuleArgs(dict):
    """Holds what a module of torch was made with, and what it saw: its entries are attributes, too."""

    __getattr__ = dict.__getitem__


class Conv2dArgs(ModuleArgs):
    pass


class ConvTranspose2dArgs(ModuleArgs):
    pass


class MaxPool2dArgs(ModuleArgs):
    pass


class GroupNormArgs(ModuleArgs):
    pass


def _convolution_args(kind, module, image, device):
    made = kind(
        in_channels=module.in_channels, out_channels=module.out_channels,
        kernel_size=module.kernel_size, stride=module.stride, padding=module.padding,
        dilation=module.dilation, groups=module.groups, padding_mode=module.padding_mode,
        batch_size=image[0], input_height=image[-2], input_width=image[-1],
        math_fidelity=MathFidelity.HiFi4, dtype=DataType.BFLOAT16, weights_dtype=DataType.BFLOAT16,
        use_1d_systolic_array=True, enable_auto_formatting=False,
        conv_blocking_and_parallelization_config_override={}, device=device)
    if kind is ConvTranspose2dArgs:
        made["output_padding"] = module.output_padding
    return made


def _args_of(module, image, device):
    """Returns what ttnn's op for this module is told; nothing for modules without such an op."""
    import torch  # A script may do without torch.

    if isinstance(module, torch.nn.Conv2d):
        return _convolution_args(Conv2dArgs, module, image, device)
    if isinstance(module, torch.nn.ConvTranspose2d):
        return _convolution_args(ConvTranspose2dArgs, module, image, device)
    size = {"batch_size": image[0], "input_height": image[-2], "input_width": image[-1]}
    if isinstance(module, torch.nn.MaxPool2d):
        return MaxPool2dArgs(
            kernel_size=module.kernel_size, stride=module.stride, padding=module.padding,
            dilation=module.dilation, input_channels=image[1], dtype=DataType.BFLOAT16, **size)
    if isinstance(module, torch.nn.GroupNorm):
        return GroupNormArgs(num_groups=module.num_groups, num_channels=module.num_channels,
                             eps=module.eps, affine=module.affine, dtype=DataType.BFLOAT16, **size)
    return ModuleArgs()


def _place(tree, name, found):
    """Puts a module's arguments where its name says; numbers are keys as numbers."""
    *above, last = [int(part) if part.isdigit() else part for part in name.split(".")]
    for part in above:
        tree = tree.setdefault(part, ModuleArgs())
    found.update(tree.get(last, {}))  # What is within it was seen before.
    tree[last] = found


def infer_ttnn_module_args(*, model, run_model, device):
    """Returns what a run of the model tells of its modules, by their names: of convolutions, pools and
    group norms what their ops are told, of each the module. None without a run."""
    if run_model is None:
        return None
    tree, handles, whole = ModuleArgs(), [], []

    def watch(name):
        def seen(module, given, _result):
            is_image = given and len(getattr(given[0], "shape", ())) == 4
            found = _args_of(module, tuple(given[0].shape), device) if is_image else ModuleArgs()
            found["module"] = module
            if name:
                _place(tree, name, found)
            else:
                whole.append(found)

        return seen

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(watch(name)))
    try:
        run_model(model)
    finally:
        for handle in handles:
            handle.remove()
    for found in whole[-1:]:  # It has the arguments of the model's own op, if that is one.
        found.update(tree)
        tree = found
    return _named_too(tree)


def _named_too(tree):
    """Gives the numbers among the names as texts too."""
    for key, value in list(tree.items()):
        if isinstance(value, ModuleArgs):
            _named_too(value)
        if isinstance(key, int):
            tree[str(key)] = value
    return tree


def _without_device(tree):
    """Returns the arguments of ops alone, without those of a run."""
    kept = {key: _without_device(value) if isinstance(value, ModuleArgs) else value
            for key, value in tree.items() if key not in ("device", "module")}
    return type(tree)({key: value for key, value in kept.items()
                       if not isinstance(value, ModuleArgs) or value})


def _attach_args(parameters, tree):
    """Puts the arguments of each module beside its parameters."""
    if type(tree) is not ModuleArgs:
        parameters["ttnn_module_args"] = tree
        return
    for key, found in tree.items():
        inner = None
        if isinstance(parameters, ParameterList) and isinstance(key, int):
            inner = parameters[key] if key < len(parameters) else None
        elif isinstance(parameters, dict):
            inner = parameters.setdefault(key, ParameterDict())
        if inner is not None:
            _attach_args(inner, found)
