# SPDX-License-Identifier: Apache-2.0
"""Measures a model as tt-metal's demos do: a trace of one pass, and inputs that a second queue writes while it runs."""

import time

import ttnn

try:
    from howard import region
except ImportError:  # On a card.
    from contextlib import nullcontext as region

ITERATIONS = 8


def open_device():
    return ttnn.open_device(device_id=0, l1_small_size=32768, trace_region_size=16 << 20, num_command_queues=2,
                            dispatch_core_config=ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.ETH))


def measure(name, device, batch, sample, host_input, near, forward, reads=False):
    """Prints what a pass of so many samples ("image") takes. `host_input` is written to DRAM by queue 1; `near` is where
    the pass wants it. With `reads` the host waits for each result. The experiment `vision` knows the model by the region's
    name."""
    far = ttnn.to_device(host_input, device)
    forward(ttnn.to_memory_config(far, near))  # Programs are made, and weights are prepared.
    x = ttnn.to_memory_config(far, near)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    result = forward(x)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.synchronize_device(device)

    begin = time.perf_counter()
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    alone = time.perf_counter() - begin
    has_read = ttnn.record_event(device, 0)
    begin = time.perf_counter()
    with region(f"{name}: {batch} x {sample}"):
        for _ in range(ITERATIONS):
            ttnn.wait_for_event(1, has_read)
            ttnn.copy_host_to_device_tensor(host_input, far, cq_id=1)
            written = ttnn.record_event(device, 1)
            ttnn.wait_for_event(0, written)
            if near != far.memory_config():
                ttnn.to_memory_config(far, near, output_tensor=x)
            has_read = ttnn.record_event(device, 0)
            ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
            if reads:
                ttnn.from_device(result)
        ttnn.synchronize_device(device)
    both = (time.perf_counter() - begin) / ITERATIONS
    print(f"{name}: a pass takes {alone * 1e3:.3f} ms ({batch / alone:.0f}/s); with inputs from the host "
          f"{both * 1e3:.3f} ms ({batch / both:.0f}/s)")
