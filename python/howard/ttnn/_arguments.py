# SPDX-License-Identifier: Apache-2.0
"""Says which arguments of ttnn change neither values nor time here, and why. What an op lists as
`unread` is in UNREAD; any op takes what is in EVERYWHERE. tests/lint/check_arguments.py compares."""

EVERYWHERE = {
    "queue_id": "The caller's queue is read before the function is called.",
    "cq_id": "The caller's queue is read before the function is called.",
    "subdevice_id": "The sub-device is read before the function is called.",
    "sub_device_id": "The sub-device is read before the function is called.",
    "worker_sub_device_id": "Work is placed on the sub-device of sub_device_id only.",
    "sub_core_grids": "The emulator spreads an op over all cores that its kernel uses.",
    "use_legacy": "It chooses among kernels of ttnn; the emulator has one for each op.",
    "use_multicore": "The emulator's kernels run on all cores, as ttnn's do by default.",
}

UNREAD = {
    "col_tilize": "It is about how the host brings numbers into tiles.",
    "compute_kernel_config": "Values are exact here, and the kernel's time has one arithmetic.",
    "compute_with_storage_grid_size": "The emulator spreads the op over all cores.",
    "device": "The tensor's own device is taken, as ttnn does.",
    "distributed_program_config": "The emulator has one kernel for these statistics.",
    "embeddings_type": "It says which row ttnn keeps in the cores; values are the same.",
    "is_l1_aligned": "It is about how rows are aligned within the L1 of a core.",
    "keep_l1_aligned": "It is about how rows are aligned within the L1 of a core.",
    "math_fidelity": "Values are exact here, and the kernel's time has one arithmetic.",
    "memory_config": "The op writes to the memory of its operand, as ttnn's does.",
    "negative_mask": "It saves ttnn's kernel a step; values are the same.",
    "num_out_blocks": "It divides what a core holds at a time; values are the same.",
    "numeric_stable": "The softmax is always the stable one here, and one kernel's time.",
    "pad_value": "What lies behind the last row or column of a tile enters no result here.",
    "overlap_qk_coregrid": "It says on which cores ttnn puts keys; values are the same.",
    "padded_shape": "Tensors have the padding of whole tiles here.",
    "padding_idx": "It says which row ttnn keeps in the cores; values are the same.",
    "program_config": "The emulator has one way to divide the work of this op.",
    "recip_tensor": "It holds numbers that ttnn's kernel would compute; values are the same.",
    "reciprocals": "It holds numbers that ttnn's kernel would compute; values are the same.",
    "recreate_mapping_tensor": "It is about what ttnn keeps for its next call.",
    "reshape_tile_mode": "It is about what ttnn keeps for its next call.",
    "sorted": "The numbers are always in their order, as ttnn's are.",
    "sparse_grad": "There is no gradient of this op; ttnn does not read it either.",
    "stable": "The order is always stable here; ttnn does not read it either.",
    "use_2d_core_grid": "The emulator has one kernel for these statistics.",
    "use_device_tilizer": "The host brings numbers into tiles, as the software's year says.",
    "use_low_perf": "It chooses among kernels of ttnn; the emulator has one for each op.",
    "use_multicore": "The emulator's kernels run on all cores, as ttnn's do by default.",
    "use_pack_untilize": "It chooses among kernels of ttnn; the emulator has one for each op.",
    "use_welford": "It chooses how variances are added up; values are exact here.",
}
