# SPDX-License-Identifier: Apache-2.0
"""Refuses, with the reason, what of ttnn has no meaning on an emulated chip."""

_KERNELS = ("programs of a script's own C++ kernels are not run here: the emulator times ops, and cannot "
            "know what such a kernel computes; call the ops that it replaces, or time it on a card")
_HOST_CALLS = ("host calls are not written to a binary here: run_experiment python records them by itself, "
               "and `run_experiment explain results/SCRIPT.workload.json` runs them again; on a device, "
               "ttnn.begin_trace_capture replays them")
REASONS = {
    **dict.fromkeys("""generic_op ProgramDescriptor KernelDescriptor CBDescriptor CBFormatDescriptor
                    SemaphoreDescriptor ReaderConfigDescriptor WriterConfigDescriptor
                    ComputeConfigDescriptor DataMovementConfigDescriptor TensorAccessorArgs""".split(),
                    _KERNELS),
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
