# SPDX-License-Identifier: Apache-2.0
"""Refuses, with the reason, what of ttnn has no meaning on an emulated chip."""

_KERNELS = ("programs of a script's own C++ kernels are not run here: the emulator times ops, and cannot "
            "know what such a kernel computes; call the ops that it replaces, or time it on a card")
_HOST_CALLS = ("host calls are not written to a binary here: run_experiment python records them by itself, "
               "and `run_experiment explain results/SCRIPT.workload.json` runs them again; on a device, "
               "ttnn.begin_trace_capture replays them")
_STREAMS = ("streams between the host and kernels that stay on the device are not emulated: "
            "ttnn.copy_host_to_device_tensor and ttnn.from_device bring tensors there and back")
_SOCKETS = ("sockets join meshes of several processes, and one mesh is emulated: ttnn.point_to_point "
            "sends from device to device")
_PREFETCHED = ("weights are not brought to the cores ahead of their product here: the emulator times the product "
               "as it reads them from DRAM; leave global_cb out")
_PROFILES = ("the emulator's timeline has the times of programs: `run_experiment python --device-logs "
             "DIR` writes them")
REASONS = {
    **dict.fromkeys("""generic_op ProgramDescriptor KernelDescriptor CBDescriptor CBFormatDescriptor
                    SemaphoreDescriptor ReaderConfigDescriptor WriterConfigDescriptor
                    ComputeConfigDescriptor DataMovementConfigDescriptor TensorAccessorArgs
                    MeshProgramDescriptor""".split(), _KERNELS),
    **dict.fromkeys("create_global_circular_buffer dram_prefetcher".split(), _PREFETCHED),
    **dict.fromkeys("H2DStreamService D2HStreamService".split(), _STREAMS),
    **dict.fromkeys("MeshSocket SocketConfig SocketConnection SocketMemoryConfig MeshCoreCoord "
                    "create_socket_pair".split(), _SOCKETS),
    **dict.fromkeys("get_latest_programs_perf_data get_all_programs_perf_data".split(), _PROFILES),
    **dict.fromkeys("light_metal_begin_capture light_metal_end_capture LightMetalReplay".split(),
                    _HOST_CALLS)}


class Refused:
    """Stands for a function or a class of ttnn: its call and its attributes raise RuntimeError."""

    def __init__(self, name):
        self.__name__ = name
        self.__doc__ = f"Refused: {REASONS[name]}."

    def _refuse(self):
        raise RuntimeError(f"ttnn.{self.__name__}: {REASONS[self.__name__]}")

    def __call__(self, *_, **__):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


NAMES = {name: Refused(name) for name in REASONS}
