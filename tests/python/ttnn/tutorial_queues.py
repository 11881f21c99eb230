# SPDX-License-Identifier: Apache-2.0
"""Inputs written by a second queue while a trace runs on the first one."""

import howard
import ttnn

device = ttnn.open_device(device_id=0, trace_region_size=1 << 20, num_command_queues=2)
SHAPE = (1, 1, 224, 512)
weight = ttnn.rand((512, 512), device, low=-0.05, high=0.05)
inputs = [ttnn.full(SHAPE, 1.0 + i, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT) for i in range(4)]
place = ttnn.allocate_tensor_on_device(ttnn.Shape(list(SHAPE)), ttnn.bfloat16, ttnn.TILE_LAYOUT,
                                       device, ttnn.DRAM_MEMORY_CONFIG)


def model(x):
    x = ttnn.matmul(x, weight, core_grid=ttnn.CoreGrid(y=7, x=8))
    return ttnn.multiply(x, x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)])


def write(host, after):
    ttnn.wait_for_event(1, after)
    ttnn.copy_host_to_device_tensor(host, place, 1)
    ttnn.wait_for_event(0, ttnn.record_event(device, 1))


write(inputs[0], ttnn.record_event(device, 0))
expected = model(place).to_list()[0][0][0][0]
trace = ttnn.begin_trace_capture(device, cq_id=0)
result = model(place)
ttnn.end_trace_capture(device, trace, cq_id=0)
done, made = ttnn.record_event(device, 0), []
with howard.region("inference"):
    for host in inputs:
        write(host, done)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        done = ttnn.record_event(device, 0)
        made.append(result.cpu(blocking=False).to_list()[0][0][0][0])
    ttnn.synchronize_device(device)
for i, one in enumerate(made):
    assert abs(one - expected * (1 + i) ** 2) <= 0.03 * abs(one) + 1e-3, (i, one, expected)
ttnn.release_trace(device, trace)
ttnn.close_device(device)
