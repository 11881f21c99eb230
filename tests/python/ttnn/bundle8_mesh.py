# SPDX-License-Identifier: Apache-2.0
"""Bundle 8: meshes, mappers, composers, collectives."""

import ttnn

ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
assert mesh.get_num_devices() == 2 and list(mesh.shape) == [1, 2]
values = [[float(r * 64 + c) for c in range(64)] for r in range(64)]
spread = ttnn.from_torch(values, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=mesh,
                         mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=1))
assert spread.shape == [64, 32]
parts = ttnn.get_device_tensors(spread)
assert parts[1].to_list() == [row[32:] for row in values]
everywhere = ttnn.from_torch(values, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=mesh,
                             mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
gathered = ttnn.all_gather(spread, dim=1, topology=ttnn.Topology.Linear)
for part in ttnn.get_device_tensors(gathered):
    assert part.to_list() == values
summed = ttnn.all_reduce(everywhere)
assert ttnn.get_device_tensors(summed)[0].to_list() == [[2 * v for v in row] for row in values]
scattered = ttnn.reduce_scatter(everywhere, dim=0)
assert ttnn.get_device_tensors(scattered)[1].to_list() == [[2 * v for v in row]
                                                           for row in values[32:]]
composer = ttnn.ConcatMeshToTensor(mesh, dim=1)
assert list(composer.join(spread.shards()).shape) == [64, 64]
mapper = ttnn.ShardTensor2dMesh(mesh, (1, 2), dims=(None, 0))
assert ttnn.from_torch(values, ttnn.float32, device=mesh, mesh_mapper=mapper).shape == [32, 64]
weights = ttnn.from_torch([[1.0 if r == c else 0.0 for c in range(64)] for r in range(64)],
                          ttnn.float32, layout=ttnn.TILE_LAYOUT, device=mesh,
                          mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=1))
product = ttnn.matmul(everywhere, weights)
assert ttnn.get_device_tensors(product)[1].to_list() == [row[32:] for row in values]
sub = mesh.create_submesh(ttnn.MeshShape(1, 1))
assert sub.get_num_devices() == 1
ttnn.close_mesh_device(mesh)
try:
    ttnn.open_mesh_device(ttnn.MeshShape(8, 8))
except RuntimeError as failure:
    assert "64 devices" in str(failure), failure
else:
    raise AssertionError("more devices were opened than there are")
one = ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=one,
                    mesh_mapper=ttnn.ReplicateTensorToMesh(one))
assert ttnn.all_gather(x, dim=0).shape == [64, 64]
ttnn.close_mesh_device(one)
