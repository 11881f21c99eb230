# SPDX-License-Identifier: Apache-2.0
"""A layer divided among the eight chips of a T3000, along both sides of the mesh. Needs torch."""

import torch

import howard
import ttnn

torch.manual_seed(0)
ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
assert mesh.get_num_devices() == 8 and ttnn.get_num_devices() == 8
assert ttnn.cluster.get_cluster_type() == ttnn.cluster.ClusterType.T3K


def spread(tensor, dims):
    mapper = ttnn.ShardTensor2dMesh(mesh, mesh_shape=(2, 4), dims=dims)
    return ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh,
                           mesh_mapper=mapper)


x, first, second = torch.randn(2, 1, 64, 256), torch.randn(256, 512) / 16, torch.randn(512, 256) / 16
expected = torch.relu(x @ first) @ second
hidden = ttnn.relu(ttnn.matmul(spread(x, (0, None)), spread(first, (None, 1))))
part = ttnn.matmul(hidden, spread(second, (None, 0)))
share = ttnn.reduce_scatter(part, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear)
assert list(share.shape) == [1, 1, 64, 64]
whole = ttnn.all_gather(share, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear)
with howard.region("sum"):
    summed = ttnn.all_reduce(part, cluster_axis=1)
composer = ttnn.ConcatMesh2dToTensor(mesh, (2, 4), dims=(0, 1))
for made in (whole, summed):
    back = ttnn.to_torch(made, mesh_composer=composer).float()
    for copy in range(4):
        assert ttnn.pearson_correlation_coefficient(expected[:, 0], back[:, copy]) > 0.999
assert len(mesh.create_submeshes(ttnn.MeshShape(1, 4))) == 2
ttnn.close_mesh_device(mesh)
