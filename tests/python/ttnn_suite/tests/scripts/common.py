# SPDX-License-Identifier: Apache-2.0
"""What fixtures make of a test's own device_params."""

import ttnn


def get_updated_device_params(device_params):
    """Returns the parameters with the words for dispatch as one configuration."""
    made = device_params.copy()
    axis = made.pop("dispatch_core_axis", None)
    kind = made.pop("dispatch_core_type", None)
    tensix = made.get("fabric_tensix_config")
    if ttnn.device.is_blackhole() and axis == ttnn.DispatchCoreAxis.ROW:
        axis = ttnn.DispatchCoreAxis.COL
    made["dispatch_core_config"] = ttnn.DispatchCoreConfig(kind, axis, tensix)
    return made
