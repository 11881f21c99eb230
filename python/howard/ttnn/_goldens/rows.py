# SPDX-License-Identifier: Apache-2.0
"""Golden functions of products, reductions, normalisations, attention and convolutions."""

import math

import torch
import torch.nn.functional as F

from .activations import get_golden_function_for_activation


def _dims(dim):
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


def _reduce(function):
    def golden(x, dim=None, keepdim=False, *args, **kwargs):
        return function(x) if dim is None else function(x, _dims(dim), keepdim=keepdim)

    return golden


def _topk(x, k, dim=None, largest=True, sorted=True, *args, **kwargs):
    return torch.topk(x, k, dim=-1 if dim is None else dim, largest=largest, sorted=sorted)


def _product(a, b, transpose_a, transpose_b, activation, program_config):
    if transpose_a:
        a = a.transpose(-1, -2)
    if transpose_b:
        b = b.transpose(-1, -2)
    made = a @ b.to(a.dtype)
    while made.dim() > a.dim():
        if made.shape[0] != 1:
            raise RuntimeError("the result has a rank above that of its first operand")
        made = made.squeeze(0)
    fused = getattr(program_config, "fused_activation", None)
    return made, get_golden_function_for_activation(
        getattr(fused, "op_type", fused) if fused is not None else activation)


def _matmul(a, b, transpose_a=False, transpose_b=False, *, bias=None, activation=None,
            program_config=None, **kwargs):
    made, function = _product(a, b, transpose_a, transpose_b, activation, program_config)
    if bias is not None:
        made = made + (bias[0] if bias.dim() == 2 and bias.shape[0] == 1 else bias)
    return made if function is None else function(made)


def _addmm(x, m1, m2, alpha=1.0, beta=1.0, out_tensor=None, **kwargs):
    return torch.addmm(x, m1, m2, alpha=alpha, beta=beta)


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _conv2d(input_tensor, weight_tensor, in_channels, out_channels, batch_size, input_height,
            input_width, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
            bias_tensor=None, conv_config=None, return_output_dim=False,
            return_weights_and_bias=False, **kwargs):
    x = input_tensor.reshape(batch_size, input_height, input_width, -1)[..., :in_channels]
    padding = tuple(padding) if not isinstance(padding, int) else (padding, padding)
    image = x.permute(0, 3, 1, 2).float()
    if len(padding) == 4:
        top, bottom, left, right = padding
        image, padding = F.pad(image, (left, right, top, bottom)), (0, 0)
    bias = None if bias_tensor is None else bias_tensor.reshape(-1).float()
    made = F.conv2d(image, weight_tensor.float(), bias=bias, stride=_pair(stride), padding=padding,
                    dilation=_pair(dilation), groups=groups)
    height, width = made.shape[-2:]
    function = get_golden_function_for_activation(getattr(conv_config, "activation", None) or None)
    made = made.permute(0, 2, 3, 1).reshape(1, 1, batch_size * height * width, -1)
    made = made if function is None else function(made)
    extras = [[height, width]] if return_output_dim else []
    extras += [[weight_tensor, bias_tensor]] if return_weights_and_bias else []
    return (made, *extras) if extras else made


def _max_pool2d(input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding,
                dilation=(1, 1), ceil_mode=False, *args, **kwargs):
    image = input_tensor.reshape(batch_size, input_h, input_w, -1)[..., :channels]
    image = image.permute(0, 3, 1, 2).float()
    if len(padding) == 4:
        top, bottom, left, right = padding
        image = F.pad(image, (left, right, top, bottom), value=-math.inf)
        padding = (0, 0)
    made = F.max_pool2d(image, list(kernel_size), list(stride), list(padding), list(dilation),
                        ceil_mode=ceil_mode)
    return made.permute(0, 2, 3, 1).reshape(1, 1, -1, channels)


def _softmax(x, dim=None, *args, **kwargs):
    return torch.softmax(x, -1 if dim is None else dim)


def _scale_mask_softmax(x, scalar=None, attention_mask=None, *args, **kwargs):
    mask = kwargs.get("mask", attention_mask)
    scale = kwargs.get("scale", scalar)
    made = x.float() * (1.0 if scale is None else scale)
    return torch.softmax(made if mask is None else made + mask, -1)


def _layer_norm(x, *args, epsilon=1e-12, residual_input_tensor=None, weight=None, bias=None,
                **kwargs):
    x = x if residual_input_tensor is None else x + residual_input_tensor
    weight = None if weight is None else weight.reshape(-1)
    bias = None if bias is None else bias.reshape(-1)
    return F.layer_norm(x, (x.shape[-1],), weight, bias, eps=epsilon)


def _rms_norm(x, weight=None, *args, epsilon=1e-12, **kwargs):
    made = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
    return made if weight is None else made * weight.reshape(-1)


def _unpadded(parameter, channels, parts):
    """Returns a weight that was padded to tiles for each core as it was before."""
    return parameter.reshape(parts, -1)[:, :channels // parts].reshape(-1)


def _group_norm(x, *args, num_groups, epsilon=1e-05, weight=None, bias=None, memory_config=None,
                core_grid=None, input_mask=None, **kwargs):
    layout = getattr(getattr(memory_config, "memory_layout", None), "name", "")
    parts = 1
    if core_grid is not None and layout != "HEIGHT_SHARDED":
        parts = core_grid.y if layout == "BLOCK_SHARDED" else core_grid.x * core_grid.y
    channels = x.shape[-1]
    sides = [one if one is None else _unpadded(one, channels, parts) if one.numel() != channels
             else one.reshape(-1) for one in (weight, bias)]
    made = F.group_norm(x.float().permute(0, 3, 1, 2), num_groups, *sides, eps=epsilon)
    return made.permute(0, 2, 3, 1).to(x.dtype)


def _split_heads(x, kv=None, *, num_heads, num_kv_heads=None, transpose_key=True, **kwargs):
    x = x if kv is None else torch.cat([x, kv], -1)
    kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    batch, rows = x.shape[0], x.shape[-2]
    size = x.shape[-1] // (num_heads + 2 * kv_heads)
    parts = torch.split(x, [num_heads * size, kv_heads * size, kv_heads * size], dim=-1)
    q, k, v = (part.reshape(batch, rows, -1, size).permute(0, 2, 1, 3) for part in parts)
    return q, k.transpose(-1, -2) if transpose_key else k, v


def _nlp_heads(x, kv=None, *, num_heads, num_kv_heads=None, transpose_k_heads=True, **kwargs):
    return _split_heads(x, kv, num_heads=num_heads, num_kv_heads=num_kv_heads,
                        transpose_key=transpose_k_heads)


def _heads_of_two(x, kv, *, num_heads, num_kv_heads=None, transpose_k_heads=True, **kwargs):
    heads = num_heads if num_kv_heads is None else num_kv_heads
    batch, rows, size = x.shape[0], x.shape[-2], kv.shape[-1] // (2 * heads)
    pairs = kv.reshape(batch, rows, heads, 2, size)
    q = x.reshape(batch, rows, num_heads, -1).permute(0, 2, 1, 3)
    k, v = (pairs[:, :, :, i].permute(0, 2, 1, 3) for i in (0, 1))
    return q, k.transpose(-1, -2) if transpose_k_heads else k, v


def _attention_softmax(x, *args, head_size=None, attention_mask=None, **kwargs):
    made = x if head_size is None else x / math.sqrt(head_size)
    return torch.softmax(made if attention_mask is None else made + attention_mask, -1)


def _concatenate_heads(x, *args, **kwargs):
    batch, heads, rows, size = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, rows, heads * size)


def _rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def _rotary(x, cos_cached, sin_cached, token_idx=None, **kwargs):
    rows = slice(0, x.shape[-2]) if token_idx is None else slice(token_idx, token_idx + 1)
    return x * cos_cached[..., rows, :] + _rotate_half(x) * sin_cached[..., rows, :]


def _loss(function):
    def golden(reference, prediction, *args, reduction="none", **kwargs):
        name = getattr(reduction, "name", str(reduction)).lower()
        return function(prediction, reference, reduction=name)

    return golden


GOLDENS = {name: _reduce(getattr(torch, name)) for name in "mean sum var std max min argmax".split()}
GOLDENS.update({
    "cumsum": lambda x, dim, *args, **kwargs: torch.cumsum(x, dim),
    "cumprod": lambda x, dim, *args, **kwargs: torch.cumprod(x, dim),
    "prod": _reduce(torch.prod),
    "sort": lambda x, dim=-1, descending=False, *args, **kwargs: list(torch.sort(
        x, dim, descending)),
    "topk": _topk, "matmul": _matmul, "linear": _matmul, "addmm": _addmm, "conv2d": _conv2d,
    "max_pool2d": _max_pool2d,
    "global_avg_pool2d": lambda x, *args, **kwargs: x.float().mean((1, 2), keepdim=True),
    "softmax": _softmax, "softmax_in_place": _softmax,
    "scale_mask_softmax": _scale_mask_softmax, "scale_mask_softmax_in_place": _scale_mask_softmax,
    "scale_causal_mask_hw_dims_softmax_in_place": _scale_mask_softmax,
    "layer_norm": _layer_norm, "rms_norm": _rms_norm, "group_norm": _group_norm,
    "transformer.split_query_key_value_and_split_heads": _split_heads,
    "experimental.split_query_key_value_and_split_heads": _split_heads,
    "experimental.nlp_create_qkv_heads": _nlp_heads,
    "transformer.attention_softmax": _attention_softmax,
    "transformer.attention_softmax_": _attention_softmax,
    "transformer.concatenate_heads": _concatenate_heads,
    "experimental.concatenate_heads": _concatenate_heads,
    "experimental.rotary_embedding": _rotary,
    "experimental.create_qkv_heads_from_separate_tensors": _heads_of_two,
    "embedding": lambda ids, weight, *args, **kwargs: F.embedding(ids.long(), weight),
    "l1_loss": _loss(F.l1_loss), "mse_loss": _loss(F.mse_loss),
})
