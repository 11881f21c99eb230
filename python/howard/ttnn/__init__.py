# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ttnn on the emulated Wormhole: its names, shapes, values and virtual time.

`run_experiment python SCRIPT` lets a script's own `import ttnn` find it; `import howard.ttnn as
ttnn` does so anywhere. A name of ttnn that is missing here raises an error that names the call and
the line.
"""

import enum as _enum
import types as _types_module

from . import (
    _comparison,
    _configs,
    _cores,
    _device,
    _devices,
    _dispatch,
    _golden,
    _graph,
    _launch,
    _memory,
    _mesh,
    _methods,
    _operations as _ops,
    _printing,
    _refused,
    _reported_calls,
    _reports,
    _rounding,
    _settings,
    _types,
    database,
    model_preprocessing,
)
from ._errors import missing as _missing
from ._session import session as _run
from ._types import DataType, Layout

_SHOWN = (_types, _cores, _memory, _configs, _dispatch, _device, _devices, _mesh, _graph, _settings,
          _golden, _printing, *_ops.MODULES)
Tensor = _methods.Tensor
bfloat16, float32 = DataType.BFLOAT16, DataType.FLOAT32
bfloat8_b, bfloat4_b = DataType.BFLOAT8_B, DataType.BFLOAT4_B
uint8, uint16, int32, uint32 = DataType.UINT8, DataType.UINT16, DataType.INT32, DataType.UINT32
fp8_e4m3 = _types.FP8_E4M3
ROW_MAJOR_LAYOUT, TILE_LAYOUT = Layout.ROW_MAJOR, Layout.TILE
__version__ = "0.65.0+howard"


def _public(module):
    """Returns what a module of ours defines for scripts."""
    for name, value in vars(module).items():
        if name.startswith("_"):
            continue
        own = getattr(value, "__module__", module.__name__)
        if isinstance(value, _launch.Operation):
            if "." not in value.name:
                yield value.name, value
        elif isinstance(value, _types_module.ModuleType):
            continue
        elif own == module.__name__ or not hasattr(value, "__module__"):
            yield name, value


_HIDDEN = set("""arrays session annotations operation program values fail take Mapper Composer Trace
              dropout new_tensor view_of Cell Storage broadcast_shape to_golden know_types_of_2026
              FP8_E4M3 SFPU_NAN L1_TOP require_taken""".split())
for _module in _SHOWN:
    for _name, _value in _public(_module):
        if _name not in _HIDDEN:
            globals().setdefault(_name, _value)
slice = _ops.data_movement.slice_
to_dtype = _ops.core.to_dtype
CloseDevice = _devices.close_device
for _name, _value in _launch.OPERATIONS.items():
    if "." not in _name:
        globals()[_name] = _value
for _name, _value in _ops.eltwise.FUNCTIONS.items():
    globals()[_name] = _value


class _Namespace(_types_module.ModuleType):
    """Holds a part of ttnn that is reached by attribute."""

    def __init__(self, name, entries):
        super().__init__("ttnn." + name)
        self.__dict__.update(entries)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise _missing(self.__name__, name, self.__dict__)


def _under(prefix):
    return {name[len(prefix) + 1:]: value for name, value in _launch.OPERATIONS.items()
            if name.startswith(prefix + ".") and "." not in name[len(prefix) + 1:]}


def _here(names):
    """Returns what scripts find here under these names."""
    return {name: globals()[name] for name in names.split()}


_no = _devices._nothing
transformer = _Namespace("transformer", {**_under("transformer"),
                                         "SDPAProgramConfig": _configs.SDPAProgramConfig})
experimental = _Namespace("experimental", {**_under("experimental"), "view": _ops.data_movement.view,
                                           "typecast": globals()["typecast"],
                                           "MinimalMatmulConfig": _configs.MinimalMatmulConfig,
                                           "Conv3dConfig": _ops.conv3d.Conv3dConfig})
SDPAProgramConfig = _configs.SDPAProgramConfig
kv_cache = _Namespace("kv_cache", {
    "fill_cache_for_user_": _ops.kv_cache.fill_cache,
    "update_cache_for_token_": _ops.kv_cache.update_cache, **_under("kv_cache")})
moreh = _Namespace("operations.moreh", {**_under("moreh"), **{
    name: value for name, value in vars(_ops.moreh_backward).items() if name.startswith("Softmax")}})
_parts = ("binary ccl conv core data_movement embedding experimental matmul normalization pool "
          "reduction transformer unary").split()
operations = _Namespace("operations", {"moreh": moreh, **{
    part: _Namespace("operations." + part, {
        name: value for name, value in globals().items() if not name.startswith("_")})
    for part in _parts},
    "comparison": _Namespace("operations.comparison", {
        "pearson_correlation_coefficient": _golden.pearson_correlation_coefficient}),
    "activations": _Namespace("operations.activations", {
        "get_golden_function_for_activation": _golden.get_golden_function_for_activation})})
operations.pool.golden_grid_sample = lambda *args, **kwargs: _golden.get_golden_function(
    globals()["grid_sample"])(*args, **kwargs)
TensorToMesh = CppTensorToMesh = _mesh.Mapper
MeshToTensor = CppMeshToTensor = _mesh.Composer
prim = _Namespace("prim", {**_under("prim"), **{name: globals()[name] for name in ("permute", "typecast", "move")}})
graph, tracer = _graph.graph, _graph.tracer
graph_tracer_utils = _Namespace("graph_tracer_utils", {"GraphTracerUtils": _graph.GraphTracerUtils})
device = _Namespace("device", {**_here(
    "Device MeshDevice DispatchCoreConfig DispatchCoreType DispatchCoreAxis open_device close_device "
    "get_device_ids get_memory_view is_wormhole_b0 is_blackhole get_num_devices SetDefaultDevice "
    "GetDefaultDevice Arch"),
    "ClearDefaultDevice": lambda: _devices.SetDefaultDevice(None),
    "DeallocateBuffers": _devices.deallocate_buffers,
    "GetNumAvailableDevices": _devices.get_num_devices, "SetRootDir": _no,
    **{f"{word}{what}": _no for word in ("Enable", "Disable")
       for what in ("PersistentKernelCache", "MemoryReports")}})
types = _Namespace("types", {
    **{name: value for module in (_types, _cores, _memory) for name, value in _public(module)},
    **_here("bfloat16 float32 bfloat8_b bfloat4_b uint8 uint16 int32 uint32 fp8_e4m3 "
            "ROW_MAJOR_LAYOUT TILE_LAYOUT")})
core = _Namespace("core", {**_here("create_sharded_memory_config num_cores_to_corerangeset"),
                           "divup": _rounding.divup, "roundup": _rounding.roundup,
                           "set_printoptions": _printing.set_printoptions,
                           "get_memory_config": _ops.layout.get_memory_config,
                           "has_tile_padding": lambda t, **_: t.padded_shape != t.shape})
decorators = _Namespace("decorators", {
    **_here("register_pre_operation_hook register_post_operation_hook"),
    **_here("get_golden_function attach_golden_function query_registered_operations "
            "register_python_operation get_fallback_function"),
    "Operation": _launch.Operation, "FastOperation": _launch.Operation})
dot_access = _Namespace("dot_access", {"DotAccessDict": model_preprocessing.ParameterDict})
CONFIG_PATH = _settings.CONFIG_PATH
if not _settings.CONFIG.enable_fast_runtime_mode:
    _comparison.install()
    _reported_calls.install()


ClusterType = _enum.Enum("ClusterType", "INVALID N150 N300 N150_X4 T3K GALAXY TG P100 P150 P300 "
                         "P150_X2 P150_X4 P300_X2 P150_X8 BLACKHOLE_GALAXY")
cluster = _Namespace("cluster", {
    "ClusterType": ClusterType,
    "get_cluster_type": lambda: ClusterType[_run.box_name]})
_distributed = {name: value for module in (_mesh, _ops.ccl) for name, value in _public(module)
                if name not in _HIDDEN}
distributed = _Namespace("distributed", {
    **_distributed, **_here("MeshShape MeshDevice MeshCoordinate open_mesh_device "
                             "close_mesh_device TensorToMesh CppTensorToMesh MeshToTensor "
                             "CppMeshToTensor"), "distribute": _ops.core.distribute})
multi_device = distributed


class _SystemMesh:
    def shape(self):
        return _dispatch.MeshShape(_run.mesh())


_ttnn = _Namespace("_ttnn", {
    "multi_device": _Namespace("_ttnn.multi_device", {
        **vars(distributed), "SystemMeshDescriptor": _SystemMesh}),
    "reports": _Namespace("_ttnn.reports", {
        name: getattr(_reports, name) for name in "get_buffers get_buffer_pages get_device_info "
                                                  "BufferInfo BufferPageInfo".split()}),
    "deprecated": _Namespace("_ttnn.deprecated", {
        "operations": _Namespace("_ttnn.deprecated.operations", {})}),
    "device": device, "tensor": types, "types": types, "operations": operations, "graph": graph})

prepare_conv_transpose2d_bias = _ops.conv_transpose.prepare_conv_transpose2d_bias
plus_one, slice_write = experimental.plus_one, experimental.slice_write
GetNumAvailableDevices = _devices.get_num_devices
GetComputeKernelConfig = get_compute_kernel_config = _configs.init_device_compute_kernel_config
DumpDeviceProfiler = ReadDeviceProfiler = _devices.ReadDeviceProfiler
EnablePersistentKernelCache = DisablePersistentKernelCache = EnableMemoryReports = _no
DisableMemoryReports = SetRootDir = dump_device_memory_state = _no
using_distributed_env = lambda: False  # noqa: E731
globals().update(_refused.NAMES)
SystemMeshDescriptor = _SystemMesh
is_tensor_storage_on_device = lambda t: t.device() is not None  # noqa: E731
has_storage_type_of = lambda t, kind: t.storage_type() is kind  # noqa: E731
DEVICE_STORAGE_TYPE = _types.StorageType.DEVICE
HOST_STORAGE_TYPE = _types.StorageType.HOST
get_max_worker_l1_unreserved_size = lambda: 1_395_424  # noqa: E731
get_dtype = lambda t: t.dtype  # noqa: E731
get_layout = lambda t: t.layout  # noqa: E731
dtypes = list(DataType)


def split_work_to_cores(grid, units, row_wise=False):
    """Returns how many cores get work, which ones, and how much each of the two groups gets."""
    box = grid if not isinstance(grid, _cores.CoreRangeSet) else grid.bounding_box().grid_size()
    limit = box.x * box.y
    cores = units if units < limit else limit
    more, least = units % cores, units // cores
    every = _cores.num_cores_to_corerangeset(cores, box, row_wise)
    ranges = every.ranges()
    first = _cores.CoreRangeSet(ranges[:more] if more else ranges)
    second = _cores.CoreRangeSet(ranges[more:] if more else [])
    return cores, every, first, second, least + bool(more), least if more else 0


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise _missing("ttnn", name, [n for n in globals() if not n.startswith("_")])


__all__ = [n for n in globals() if not n.startswith("_")]
