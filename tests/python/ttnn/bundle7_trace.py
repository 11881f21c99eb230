# SPDX-License-Identifier: Apache-2.0
"""Bundle 7: traces, two queues, events, sub-devices, graphs, hooks."""

import ttnn
from tracy import signpost

import howard

device = ttnn.open_device(device_id=0, trace_region_size=1 << 20, num_command_queues=2)


def full(value):
    return ttnn.full([32, 64], value, layout=ttnn.TILE_LAYOUT)


x = ttnn.allocate_tensor_on_device([32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
ttnn.copy_host_to_device_tensor(full(1.0), x)
signpost("warm up")


def model(tensor):
    return ttnn.relu(ttnn.add(ttnn.multiply(tensor, 2.0), 1.0))


assert model(x)[0, 0].item() == 3.0
trace = ttnn.begin_trace_capture(device, cq_id=0)
y = model(x)
ttnn.end_trace_capture(device, trace, cq_id=0)
with howard.region("replays"):
    for value in (1.0, 5.0, -4.0):
        ttnn.copy_host_to_device_tensor(full(value), x, cq_id=1)
        written = ttnn.record_event(device, 1)
        ttnn.wait_for_event(0, written)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        done = ttnn.record_event(device, 0)
        ttnn.wait_for_event(1, done)
        assert y[0, 0].item() == max(0.0, 2 * value + 1), (value, y[0, 0].item())
start = howard.now()
ttnn.execute_trace(device, trace, blocking=True)
replay = howard.now() - start
start = howard.now()
model(x)
ttnn.synchronize_device(device)
assert replay < howard.now() - start, "a replay took longer than its calls"
try:
    capture = ttnn.begin_trace_capture(device)
    x.to_list()
except RuntimeError as failure:
    assert "captured" in str(failure), failure
    ttnn.end_trace_capture(device, capture)
else:
    raise AssertionError("a tensor was read during a capture")
ttnn.release_trace(device, trace)
try:
    ttnn.execute_trace(device, trace)
except RuntimeError:
    pass
else:
    raise AssertionError("a released trace was executed")

halves = [ttnn.SubDevice([ttnn.CoreRangeSet(ttnn.CoreRange((a, 0), (b, 6)))])
          for a, b in ((0, 3), (4, 7))]
manager = device.create_sub_device_manager(halves, 0)
device.load_sub_device_manager(manager)
ttnn.add(x, x, sub_device_id=ttnn.SubDeviceId(1))
ttnn.synchronize_device(device)
device.clear_loaded_sub_device_manager()
device.remove_sub_device_manager(manager)

ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
model(x)
nodes = ttnn.graph.end_graph_capture()
assert ttnn.graph.extract_calltrace(nodes) == ["ttnn::multiply", "ttnn::add", "ttnn::relu"]
seen = []
with ttnn.register_pre_operation_hook(lambda op, args, kwargs: seen.append(op.__name__)):
    model(x)
assert seen == ["ttnn.multiply", "ttnn.add", "ttnn.relu"]
ttnn.synchronize_device(device)
with ttnn.command_queue(1):
    ttnn.add(x, x)
ttnn.synchronize_device(device)
ttnn.close_device(device)
no_region = ttnn.open_device(device_id=0)
try:
    ttnn.begin_trace_capture(no_region, cq_id=0)
except RuntimeError as failure:
    assert "trace_region_size" in str(failure), failure
else:
    raise AssertionError("a trace was captured without a region")
ttnn.close_device(no_region)
small = ttnn.open_device(device_id=0, trace_region_size=4096)
x = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=small)
ttnn.add(x, x)
trace = ttnn.begin_trace_capture(small, cq_id=0)
for _ in range(50):
    ttnn.add(x, x)
try:
    ttnn.end_trace_capture(small, trace, cq_id=0)
except RuntimeError as failure:
    assert "only 4096B is allocated for trace region" in str(failure), failure
else:
    raise AssertionError("a trace was kept that does not fit its region")
ttnn.close_device(small)
