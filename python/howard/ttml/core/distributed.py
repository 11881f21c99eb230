# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.core.distributed for the one device that there is."""


def enable_fabric(num_devices=1):
    if num_devices != 1:
        raise RuntimeError(f"enable_fabric: {num_devices} devices: howard.ttml has one device; "
                           "run_experiment train and fit know meshes")


def synchronize_gradients(parameters):
    """Does nothing: the gradients of one device are all there are."""


def shard_tensor_to_mesh_mapper(device, dim=0, cluster_axis=None):
    """Returns what from_numpy() takes for a tensor that one device has alone."""
    return None


def concat_mesh_to_tensor_composer(device, dim=0):
    """Returns what to_numpy() takes for a tensor that one device has alone."""
    return None
