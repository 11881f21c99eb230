# SPDX-License-Identifier: Apache-2.0
"""What a box of several chips has: it is chosen with run_experiment python --box."""

import pytest
import torch

import ttnn


@pytest.mark.parametrize("mesh_device", [(2, 4)], indirect=True)
@pytest.mark.parametrize("device_params", [{"fabric_config": ttnn.FabricConfig.FABRIC_1D}],
                         indirect=True)
def test_parts_of_all_devices(mesh_device):
    assert ttnn.cluster.get_cluster_type() is ttnn.cluster.ClusterType.T3K
    values = torch.rand(1, 1, 32, 256)
    spread = ttnn.from_torch(values, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=mesh_device,
                             mesh_mapper=ttnn.ShardTensorToMesh(mesh_device, dim=3))
    made = ttnn.to_torch(ttnn.neg(spread),
                         mesh_composer=ttnn.ConcatMeshToTensor(mesh_device, dim=3))
    assert torch.equal(made, -values)
