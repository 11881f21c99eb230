# SPDX-License-Identifier: Apache-2.0
"""Brings tensors to the chip and back: from numbers, torch and files, and as text."""

import contextlib
import os
import pickle


from .. import _arrays as arrays
from .._arrays import np
from .. import _convert
from .._device import require_no_capture
from .._dispatch import queue_number
from .._launch import fail, operation, require_device
from .._memory import MemoryConfig, Tile
from .._session import session
from .._tensor import device_tensor, host_tensor, require_taken
from .._types import DataType, Layout
from .eltwise import FUNCTIONS
from .layout import to_layout


def _default_layout(dtype, layout):
    if layout is not None:
        if dtype.block and layout is Layout.ROW_MAJOR:
            raise RuntimeError(f"{dtype.value} tensors must be in TILE layout")
        return layout
    return Layout.TILE if dtype.block else Layout.ROW_MAJOR


def _require_shards(config):
    if config is not None and config.is_sharded() and config.shard_spec is None and \
            config.nd_shard_spec is None:
        raise RuntimeError("ttnn.from_torch: Shard spec must not be None for sharded tensors")


def _place(shards, dtype, layout, device, config, cq_id, topology=None, tile=None):
    """Returns a tensor of these values on the host, or written to a device."""
    require_taken(dtype)
    if session.values:  # Devices that get the same have one array.
        known = {id(a): arrays.rounded(a, dtype.value) for a in shards}
        shards = [known[id(a)] for a in shards]
    if device is None:
        return host_tensor(shards, dtype, layout, shards[0].shape, topology, config, tile)
    device.require_open()
    require_no_capture(device, "write a tensor")
    if len(shards) == 1 and device.get_num_devices() > 1:
        shards = shards * device.get_num_devices()
    made = device_tensor(shards[0].shape, dtype, layout, config, device,
                         shards if device.values else None, topology, tile)
    device.chip.write(made._storage.number, queue_number(cq_id))
    return made


@operation(unread="col_tilize")
def from_torch(tensor, dtype=None, *, spec=None, tile=None, pad_value=None, layout=None, device=None,
               memory_config=None, mesh_mapper=None, cq_id=None, preserve_nan_values=False,
               enable_bfloat_opt=False):
    """Returns a tensor of torch's, NumPy's or lists' numbers, which are converted on the host, in
    one write."""
    if tensor is None:
        return None
    if spec is not None:
        if any(given is not None for given in (dtype, layout, memory_config, tile)):
            raise RuntimeError("from_torch: spec excludes dtype, layout, memory_config and tile")
        dtype, layout, memory_config, tile = spec.dtype, spec.layout, spec.memory_config, spec.tile
    _require_shards(memory_config)
    array, own = _convert.array_of(tensor) if session.values else _convert.blank_of(tensor)
    dtype = dtype or own
    layout = _default_layout(dtype, layout)
    mapper = mesh_mapper if mesh_mapper is not None else _ambient["mapper"]
    shards, topology = ([array], None) if mapper is None else mapper.split(array)
    whole = tile is None or not tile.is_small()
    if device is not None and session.is_2026 and whole and _can_convert(
            shards[0], own, dtype, layout, memory_config, preserve_nan_values, enable_bfloat_opt):
        return _converted_on_device(shards, own, dtype, layout, device, memory_config, cq_id,
                                    topology)
    made = _place(shards, dtype, layout, device, memory_config, cq_id, topology, tile)
    if not session.values:
        made._storage.cell.largest = _convert.largest_of(tensor)
    made._storage.cell.padding = float(pad_value or 0)
    return made


def _can_convert(array, own, dtype, layout, config, keeps_nan, blocks):
    """Says whether ttnn of 2026 sends it as it is and converts it on the device; otherwise the host
    does it."""
    real = (DataType.BFLOAT16, DataType.FLOAT32)
    fits = own in real and (dtype in real or (dtype.block and blocks))
    rank = len(array.shape)
    aligned = layout is Layout.TILE or dtype is own
    return fits and aligned and 0 < rank <= 4 and array.size > 0 and not keeps_nan and not (
        config is not None and config.is_sharded()) and (layout is Layout.TILE or dtype is not own)


def _converted_on_device(shards, own, dtype, layout, device, config, cq_id, topology):
    """Writes rows once, then tilizes and, where the type differs, typecasts."""
    made = _place(shards, own, Layout.ROW_MAJOR, device, config, cq_id, topology)
    if layout is Layout.TILE:
        made = to_layout.function(made, Layout.TILE)
    return made if own is dtype else FUNCTIONS["typecast"].function(made, dtype)


def to_dtype(tensor, dtype):
    """Returns the same numbers in another type, on the host."""
    if tensor._device is not None:
        fail("to_dtype", "the tensor must be on the host: ttnn.typecast is for device tensors")
    layout = Layout.TILE if dtype.block else tensor._layout  # Blocks are parts of tiles.
    return host_tensor([arrays.rounded(a, dtype.value) for a in tensor.shards()], dtype, layout)


_ambient = {"mapper": None, "composer": None}


@contextlib.contextmanager
def distribute(default):
    """Sets the mapper of from_torch, or the composer of to_torch, within the block."""
    key = "mapper" if hasattr(default, "split") else "composer"
    before, _ambient[key] = _ambient[key], default
    try:
        yield
    finally:
        _ambient[key] = before


def _joined(tensor, composer):
    composer = composer if composer is not None else _ambient["composer"]
    shards = tensor.shards()
    if composer is not None:
        return composer.join(shards)
    if len(shards) > 1:
        raise RuntimeError(
            "to_torch: the tensor is on several devices: give it a mesh_composer, as "
            "ttnn.ConcatMeshToTensor(mesh_device, dim=0)"
        )
    return shards[0]


@operation(unread="device")
def to_torch(tensor, dtype=None, *, torch_rank=None, mesh_composer=None, cq_id=None):
    """Waits, reads, and returns a torch tensor without padding."""
    tensor.blocking_read(cq_id)
    made = _convert.torch_of(_joined(tensor, mesh_composer), tensor._dtype)
    if torch_rank is not None:
        while made.dim() > torch_rank:
            if made.shape[0] != 1:
                raise RuntimeError(f"to_torch: {tuple(made.shape)} has no rank of {torch_rank}")
            made = made.squeeze(0)
        if made.dim() < torch_rank:
            raise RuntimeError(f"to_torch: {tuple(made.shape)} has no rank of {torch_rank}")
    return made if dtype is None else made.to(dtype)


def to_numpy(tensor):
    tensor.blocking_read()
    return _convert.numpy_of(_joined(tensor, None), tensor._dtype)


def to_list(tensor):
    tensor.blocking_read()
    return _convert.list_of(_joined(tensor, None), tensor._dtype)


def _given(name, known, places, args, kwargs):
    """Returns arguments by their names: those in their places, and those with names."""
    unknown = [*args[len(places):], *sorted(set(kwargs) - set(known))]
    if unknown:
        raise TypeError(f"{name}(): incompatible function arguments: {unknown}; it takes "
                        f"{', '.join(known)}")
    return dict(zip(places, args), **kwargs)


def new_tensor(*args, **kwargs):
    """Implements Tensor(array, ...) and Tensor(list, shape, dtype, layout[, device[,
    memory_config]])."""
    if args and isinstance(args[0], (list, tuple)) and len(args) > 1 and not isinstance(
            args[1], DataType):
        names = ("data", "shape", "data_type", "layout", "device", "memory_config", "tile")
        given = _given("Tensor", (*names, "dtype"), names, args, kwargs)
        dtype = given.get("data_type") or given.get("dtype")
        flat = _convert.array_of_list(list(given["data"]))
        return _place([flat.reshape(list(given["shape"]))], dtype, given["layout"],
                      given.get("device"), given.get("memory_config"), None, tile=given.get("tile"))
    names = ("tensor", "data_type", "device", "layout", "mem_config", "tile", "cq_id", "pad_value",
             "mesh_mapper")
    given = _given("Tensor", (*names, "dtype", "memory_config", "strategy"), names, args, kwargs)
    array, own = _convert.array_of(given["tensor"])
    dtype = given.get("data_type") or given.get("dtype") or own
    shards, topology = [array], None
    mapper = given.get("mesh_mapper") or given.get("strategy")
    if hasattr(mapper, "split"):
        shards, topology = mapper.split(array)
    made = _place(shards, dtype, _default_layout(dtype, given.get("layout")), given.get("device"),
                  given.get("mem_config") or given.get("memory_config"), given.get("cq_id"),
                  topology, given.get("tile"))
    made._storage.cell.padding = float(given.get("pad_value") or 0)
    return made


@operation(unread="use_device_tilizer")
def as_tensor(tensor, dtype=None, *, layout=Layout.ROW_MAJOR, device=None, memory_config=None,
              cache_file_name=None, preprocess=None, mesh_mapper=None):
    """Does what from_torch does, with a cache in a file."""
    if device is not None and memory_config is None:
        raise RuntimeError("memory_config must be specified when device is specified")
    if cache_file_name is not None:
        kind = dtype.name if dtype is not None else "None"
        path = f"{cache_file_name}_dtype_{kind}_layout_{layout.name}.tensorbin"
        if os.path.exists(path):
            return load_tensor(path, device=device)
    made = from_torch.function(preprocess(tensor) if preprocess else tensor, dtype, layout=layout,
                               device=device, memory_config=memory_config, mesh_mapper=mesh_mapper)
    if cache_file_name is not None:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        dump_tensor(path, made)
    return made


@operation()
def to_device(tensor, device, memory_config=None, *, queue_id=None, cq_id=None):
    if tensor._device is not None:
        return tensor
    tensor._require_memory()
    device.require_open()
    require_no_capture(device, "write a tensor")
    shards = tensor.kept_shards()
    if len(shards) == 1:
        shards = shards * device.get_num_devices()
    made = device_tensor(tensor._shape, tensor._dtype, tensor._layout,
                         memory_config or tensor._config, device,
                         shards if device.values else None, tensor._topology, tensor._storage.tile)
    made._storage.cell.largest = tensor._storage.cell.largest
    device.chip.write(made._storage.number, queue_number(cq_id if queue_id is None else queue_id))
    return made


@operation(unread={"blocking": 1})
def from_device(tensor, *, queue_id=None, cq_id=None):
    if tensor._device is None:
        return tensor
    tensor.blocking_read(cq_id if queue_id is None else queue_id)
    made = host_tensor(tensor.kept_shards(), tensor._dtype, tensor._layout, tensor._shape,
                       tensor._topology, None, tensor._storage.tile)
    made._storage.cell.padding = tensor._storage.cell.padding
    return made


@operation()
def copy_host_to_device_tensor(host_tensor, device_tensor, cq_id=None, queue_id=None):
    """Writes to memory that is there."""
    device = require_device("copy_host_to_device_tensor", device_tensor)
    require_no_capture(device, "write a tensor")
    if host_tensor._shape != device_tensor._shape or host_tensor._dtype is not device_tensor._dtype or \
            host_tensor._layout is not device_tensor._layout:
        fail("copy_host_to_device_tensor", "shape, dtype and layout of both must be the same, not "
             f"{host_tensor._shape} {host_tensor._dtype.value} and {device_tensor._shape} "
             f"{device_tensor._dtype.value}")
    shards = host_tensor.kept_shards()
    if device.values:
        device_tensor._storage.cell.shards = (
            shards if len(shards) > 1 else shards * device.get_num_devices())
    device_tensor._storage.cell.largest = host_tensor._storage.cell.largest
    device.chip.write(device_tensor._storage.number,
                      queue_number(cq_id if queue_id is None else queue_id))


@operation(unread={"blocking": 2})
def copy_device_to_host_tensor(device_tensor, host_tensor, cq_id=None):
    device_tensor.blocking_read(cq_id)
    host_tensor._storage.cell.shards = device_tensor.shards()


def deallocate(tensor, force=True):
    """Frees the memory now, for all tensors that share it."""
    tensor.deallocate(force)


# Files.


def dump_tensor(file_name, tensor):
    """Writes a tensor with its type, its layout and where it lay."""
    if not str(file_name).endswith(".tensorbin"):
        raise RuntimeError(f"the file {file_name} must have the extension .tensorbin")
    data = [(a.shape, arrays.is_whole(a), a.tobytes()) for a in tensor.shards()]
    with open(file_name, "wb") as file:
        pickle.dump({"dtype": tensor._dtype.name, "layout": tensor._layout.name,
                     "shape": list(tensor._shape), "shards": data,
                     "memory_config": tensor._config.plain(), "tile": tensor.tile.tile_shape}, file)


def load_tensor(file_name, *, device=None):
    """Reads a tensor; on a device, to where it lay when it was written."""
    if not str(file_name).endswith(".tensorbin"):
        raise RuntimeError(f"the file {file_name} must have the extension .tensorbin")
    if not os.path.exists(file_name):
        raise RuntimeError(f"there is no file {file_name}")
    with open(file_name, "rb") as file:
        saved = _SafeLoader(file).load()
    shards = [np.frombuffer(raw, np.int32 if whole else np.float32).reshape(shape)
              for shape, whole, raw in saved["shards"]]
    config = MemoryConfig.of_plain(saved.get("memory_config"))
    return _place(shards, DataType[saved["dtype"]], Layout[saved["layout"]], device, config, None,
                  tile=Tile(saved.get("tile") or (32, 32)))


class _SafeLoader(pickle.Unpickler):
    """Loads plain numbers and texts only, so that a file runs nothing."""

    def find_class(self, module, name):
        raise RuntimeError(f"the file is no tensor that dump_tensor has written: it has {module}.{name}")


@operation()
def from_buffer(buffer, shape, dtype, device=None, layout=None, memory_config=None):
    flat = _convert.array_of_list(list(buffer))
    return _place([flat.reshape(list(shape))], dtype, _default_layout(dtype, layout), device,
                  memory_config, None)
