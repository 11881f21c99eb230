# SPDX-License-Identifier: Apache-2.0
"""The fixtures that tests of ttnn ask for: a device or a mesh, opened for each test."""

import random

import numpy
import pytest
import torch
from loguru import logger

import ttnn
from tests.scripts.common import get_updated_device_params


def pytest_addoption(parser):
    parser.addoption("--tt-arch", choices=["wormhole_b0", "blackhole"],
                     default=ttnn.get_arch_name())
    parser.addoption("--device-id", type=int, default=0)


@pytest.fixture(scope="function")
def reset_seeds():
    torch.manual_seed(213919)
    numpy.random.seed(213919)
    random.seed(213919)


@pytest.fixture(scope="function")
def device_params(request):
    return getattr(request, "param", {})


@pytest.fixture(scope="function")
def device(request, device_params):
    device_id = request.config.getoption("device_id")
    if ttnn.cluster.get_cluster_type() in (ttnn.cluster.ClusterType.TG,
                                           ttnn.cluster.ClusterType.GALAXY):
        device_id = 4
    ttnn.GetPCIeDeviceID(device_id)
    before = ttnn.GetDefaultDevice()
    opened = ttnn.CreateDevice(device_id=device_id, **get_updated_device_params(device_params))
    ttnn.SetDefaultDevice(opened)
    yield opened
    ttnn.close_device(opened)
    ttnn.SetDefaultDevice(before)


@pytest.fixture(scope="function")
def mesh_device(request, device_params):
    ids = ttnn.get_pcie_device_ids()
    asked = getattr(request, "param", len(ids))
    system = ttnn._ttnn.multi_device.SystemMeshDescriptor().shape().mesh_size()
    shape = ttnn.MeshShape(*asked) if isinstance(asked, tuple) else ttnn.MeshShape(1, asked)
    if not ttnn.using_distributed_env() and shape.mesh_size() > ttnn.get_num_devices():
        pytest.skip(f"the mesh of {shape} needs more than {system} devices")
    parameters = get_updated_device_params(device_params)
    fabric = parameters.pop("fabric_config", None)
    if fabric is not None:
        ttnn.set_fabric_config(fabric, ttnn.FabricReliabilityMode.STRICT_INIT, None,
                               ttnn.FabricTensixConfig.DISABLED)
    opened = ttnn.open_mesh_device(mesh_shape=shape, **parameters)
    logger.debug(f"a mesh of {opened.get_num_devices()} devices")
    yield opened
    for submesh in opened.get_submeshes():
        ttnn.close_mesh_device(submesh)
    ttnn.close_mesh_device(opened)
    if fabric is not None:
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


@pytest.fixture(scope="function", autouse=True)
def reset_default_device():
    before = ttnn.GetDefaultDevice()
    yield
    ttnn.SetDefaultDevice(before)
    ttnn.device.DisablePersistentKernelCache()
