# SPDX-License-Identifier: Apache-2.0
"""Defines what ttnn's ops are told besides their tensors: programs, arithmetic, activations."""

import enum
from typing import Any, Dict

from ._cores import CoreCoord
from ._types import MathFidelity, ThrottleLevel


class _Fields:
    """Holds named fields, which are keyword only, as ttnn's configurations are."""

    _fields: Dict[str, Any] = {}

    def __init__(self, **given):
        unknown = set(given) - set(self._all())
        if unknown:
            raise TypeError(
                f"{type(self).__name__}(): incompatible function arguments: {sorted(unknown)}; "
                f"it has {', '.join(self._all())}"
            )
        for name, default in self._all().items():
            setattr(self, name, given.get(name, default))

    @classmethod
    def _all(cls):
        merged = {}
        for base in reversed(cls.__mro__):
            merged.update(getattr(base, "_fields", {}))
        return merged

    def _key(self):
        return tuple((name, repr(getattr(self, name))) for name in self._all())

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._all())
        return f"{type(self).__name__}({fields})"

    def logged(self):
        """Returns the text of ttnn's logs: its class, and its fields behind semicolons."""
        fields = [f"{name}={_logged(getattr(self, name))}" for name in self._all()]
        return f"{type(self).__name__}({';'.join(fields)})"


def _logged(value):
    if isinstance(value, CoreCoord):
        return f"(x={value.x};y={value.y})"
    return "std::nullopt" if value is None else str(int(value) if value in (True, False) else value)


class WormholeComputeKernelConfig(_Fields):
    _fields = {
        "math_fidelity": MathFidelity.Invalid,
        "math_approx_mode": True,
        "fp32_dest_acc_en": False,
        "packer_l1_acc": False,
        "dst_full_sync_en": False,
        "throttle_level": ThrottleLevel.NO_THROTTLE,
    }


BlackholeComputeKernelConfig = WormholeComputeKernelConfig
DeviceComputeKernelConfig = WormholeComputeKernelConfig


class GrayskullComputeKernelConfig(_Fields):
    _fields = {"math_fidelity": MathFidelity.Invalid, "math_approx_mode": True,
               "dst_full_sync_en": False}


def init_device_compute_kernel_config(arch, device_kernel_config=None, *,
                                      math_fidelity=MathFidelity.LoFi, math_approx_mode=True,
                                      fp32_dest_acc_en=False, packer_l1_acc=False,
                                      dst_full_sync_en=False,
                                      throttle_level=ThrottleLevel.NO_THROTTLE):
    """Returns the configuration that is given, or one of these fields."""
    if device_kernel_config is not None:
        return device_kernel_config
    return WormholeComputeKernelConfig(
        math_fidelity=math_fidelity,
        math_approx_mode=math_approx_mode,
        fp32_dest_acc_en=fp32_dest_acc_en,
        packer_l1_acc=packer_l1_acc,
        dst_full_sync_en=dst_full_sync_en,
        throttle_level=throttle_level,
    )


class _GridConfig(_Fields):
    """Holds a configuration of a program that names its grid, which may be a pair."""

    _fields = {"compute_with_storage_grid_size": None, "allowed_worker_cores": None}

    def __init__(self, **given):
        super().__init__(**given)
        grid = self.compute_with_storage_grid_size
        if isinstance(grid, (tuple, list)):
            self.compute_with_storage_grid_size = CoreCoord(*grid)


class MatmulMultiCoreReuseProgramConfig(_GridConfig):
    _fields = {"in0_block_w": 1, "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": 1,
               "per_core_N": 1}


class MatmulMultiCoreReuseMultiCastProgramConfig(MatmulMultiCoreReuseProgramConfig):
    _fields = {"out_block_h": None, "out_block_w": None, "transpose_mcast": False,
               "fused_activation": None, "fuse_batch": True}


class MatmulMultiCoreReuseMultiCast1DProgramConfig(MatmulMultiCoreReuseProgramConfig):
    _fields = {"out_block_h": None, "out_block_w": None, "fuse_batch": True,
               "fused_activation": None, "mcast_in0": True, "gather_in0": False, "hop_cores": None,
               "num_global_cb_receivers": 1, "untilize_out": False}


class MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(_Fields):
    _fields = {"in0_block_w": 1, "per_core_M": 1, "per_core_N": 1, "fused_activation": None}


class MatmulMultiCoreProgramConfig(_Fields):
    pass


class MinimalMatmulConfig(_GridConfig):
    _fields = {"M_block_size": 8, "K_block_size": 8, "N_block_size": 8, "subblock_h": 1,
               "subblock_w": 1}


class SoftmaxDefaultProgramConfig(_Fields):
    pass


class SoftmaxShardedMultiCoreProgramConfig(_GridConfig):
    _fields = {"subblock_w": 1, "block_h": 1, "block_w": 1}


class LayerNormDefaultProgramConfig(_Fields):
    _fields = {"legacy_reduction": False, "legacy_rsqrt": False, "use_welford": False}


class LayerNormShardedMultiCoreProgramConfig(_GridConfig):
    _fields = {"subblock_w": 1, "block_h": 1, "block_w": 1, "inplace": False,
               "legacy_reduction": False, "legacy_rsqrt": False, "use_welford": False}


class SDPAProgramConfig(_GridConfig):
    _fields = {"sub_core_grids": None, "q_chunk_size": None, "k_chunk_size": None,
               "exp_approx_mode": None, "max_cores_per_head_batch": 16}


class Conv2dConfig(_Fields):
    _fields = {
        "dtype": None, "weights_dtype": None, "activation": None, "deallocate_activation": False,
        "reallocate_halo_output": True, "act_block_h_override": 0, "act_block_w_div": 1,
        "reshard_if_not_optimal": False, "override_sharding_config": False, "shard_layout": None,
        "core_grid": None, "transpose_shards": False, "output_layout": None,
        "preprocess_weights_on_device": False, "enable_act_double_buffer": False,
        "enable_weights_double_buffer": False, "enable_split_reader": False,
        "enable_subblock_padding": False, "in_place": False, "config_tensors_in_dram": False,
        "full_inner_dim": False, "enable_kernel_stride_folding": False,
        "enable_activation_reuse": False, "always_preprocess_weights": False,
        "force_split_reader": None, "override_output_sharding_config": False,
    }


class Conv2dSliceConfig(_Fields):
    _fields = {"slice_type": None, "num_slices": 1}


Conv1dConfig = Conv2dConfig
Op2DSliceConfig = Conv2dSliceConfig
Conv2dL1Full = Op2DL1Full = "L1_FULL"
Conv2dL1FullSliceConfig = Op2DL1FullSliceConfig = Conv2dSliceConfig(slice_type=Conv2dL1Full)
Conv2dDRAMSliceHeight = Op2DDRAMSliceHeight = "DRAM_HEIGHT"
Conv2dDRAMSliceWidth = Op2DDRAMSliceWidth = "DRAM_WIDTH"

_UNARY_NAMES = """abs acos acosh asin asinh atan atanh cbrt ceil celu clamp cos cosh deg2rad elu eqz
erf erfc erfinv exp exp2 expm1 fill floor frac gelu gez gtz hardmish hardshrink hardsigmoid hardswish
hardtanh heaviside i0 i1 identity isfinite isinf isnan isneginf isposinf leaky_relu lez log log10
log1p log2 logical_not_unary ltz mish neg nez power prelu_sfpu rad2deg rdiv recip relu relu6 relu_max
relu_min remainder round rsqrt rsub selu sigmoid sign signbit silu sin sinh softplus softshrink
softsign sqrt square sub_unary_sfpu tan tanh tanhshrink threshold tiled_prod trunc typecast
bitwise_not mul_unary_sfpu add_unary_sfpu div_unary_sfpu log_sigmoid abs_int32 clamp_tss fmod
rpow unary_eq unary_ne unary_gt unary_lt unary_ge unary_le maximum minimum
lgamma logit power_iterative bitwise_and bitwise_or bitwise_xor left_shift right_shift dropout
zero_point where_tss alt_complex_rotate90 bitcast""".split()

UnaryOpType = enum.Enum(  # type: ignore[misc]  # mypy wants to read the names.
    "UnaryOpType", [(name.upper(), name) for name in _UNARY_NAMES])
SigmoidMode = enum.Enum("SigmoidMode", "FAST_APPROXIMATE ACCURATE_FAST_EXP ACCURATE", start=0)
BinaryOpType = enum.Enum(
    "BinaryOpType",
    "ADD SUB MUL GT LT LTE GTE EQ NE SQUARED_DIFFERENCE BIAS_GELU LOGADDEXP RSUB LOGICAL_AND "
    "LOGICAL_OR LOGICAL_XOR LDEXP LOGADDEXP2 DIV POWER",
)


class UnaryWithParam:
    """Holds a function of one number, with its parameters; activations are given so."""

    def __init__(self, op_type, *params):
        self.op_type = op_type
        self.params = [float(p) for one in params for p in (one if isinstance(one, list) else [one])]

    def __eq__(self, other):
        return isinstance(other, UnaryWithParam) and vars(self) == vars(other)

    def __hash__(self):
        return hash((self.op_type, tuple(self.params)))

    def __repr__(self):
        return f"UnaryWithParam({self.op_type}, {self.params})"


# What ttnn takes as a text; any other function is given as UnaryWithParam.
_TEXTS = """relu relu6 gelu gelu_approx silu sigmoid sigmoid_approx hardsigmoid sqrt rsqrt exp recip log
log1p tanh log2 log10 sin cos cosh sinh abs abs_int32 sign square softplus selu hardmish mish""".split()
_SPELLED = {"recip": "reciprocal", "logical_not_unary": "logical_not", "power": "pow",
            "power_iterative": "pow", "left_shift": "bitwise_left_shift",
            "right_shift": "bitwise_right_shift",
            "sigmoid_approx": "sigmoid", "add_unary_sfpu": "add", "sub_unary_sfpu": "subtract",
            "mul_unary_sfpu": "multiply", "div_unary_sfpu": "divide", "abs_int32": "abs",
            "clamp_tss": "clamp", "prelu_sfpu": "leaky_relu",
            **{f"unary_{name}": name for name in ("eq", "ne", "gt", "lt", "ge", "le")}}
# What functions are told where an activation has no parameters.
_PARAMETERS = {"softplus": [1.0, 20.0], "elu": [1.0], "celu": [1.0], "leaky_relu": [0.01],
               "hardtanh": [-1.0, 1.0], "hardshrink": [0.5], "softshrink": [0.5], "round": [0.0]}


def activation_of(given):
    """Returns the function of an activation and its parameters; None for none."""
    if given is None or given == "":
        return None
    if isinstance(given, (tuple, list)) and given and isinstance(given[0], UnaryOpType):
        # (UnaryOpType.GELU, True): the function, then what it is told.
        name, params = given[0].value, [float(one) for one in given[1:]]
    elif isinstance(given, UnaryWithParam):
        name, params = given.op_type.value, given.params
    elif isinstance(given, UnaryOpType):
        name, params = given.value, []
    elif isinstance(given, str):
        if given not in _TEXTS:
            raise RuntimeError(f"TT_FATAL: Unsupported activation: {given!r}; accepted: "
                               f"{', '.join(_TEXTS)}")
        name, params = given, []
    else:
        raise TypeError(f"incompatible function arguments: {given!r} is no activation")
    name = _SPELLED.get(name, name)
    if name == "gelu" and not isinstance(given, str):
        # Its number says whether it is the fast one, which ttnn's kernels take where nothing is said.
        return ("gelu", []) if params and not params[0] else ("gelu_approx", [])
    return name, params or _PARAMETERS.get(name, [])
