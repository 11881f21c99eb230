# SPDX-License-Identifier: Apache-2.0
"""What tests of tt-metal import beside ttnn, and folders of the user's own."""

import torch

from typing_extensions import deprecated

import tt_lib as ttl
import tt_lib.fallback_ops
import ttnn
from tt_lib.utils import divup, is_close, pad_activation, pad_weight, roundup32, tilize_to_list
from ttnn.tutorials.helpers import SIZES


def test_folders_below_ttnn_are_found():
    assert SIZES == (32, 64)


@deprecated("stands for what has a newer name")
def test_utils():
    assert divup(33, 32) == 2 and roundup32(33) == 64
    assert tuple(pad_activation(torch.ones(5)).shape) == (1, 1, 32, 32)
    assert tuple(pad_weight(torch.ones(5, 40)).shape) == (1, 1, 32, 64)
    assert pad_activation(torch.ones(2, 3, 33, 1)).sum() == 198
    assert tilize_to_list(torch.ones(1, 1, 2, 2)) == [1.0] * 4
    assert is_close(torch.ones(3), torch.ones(3) + 0.01)


def test_fallbacks(device):
    values = torch.rand(1, 1, 32, 64)
    tensor = ttnn.from_torch(values, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    made = ttl.fallback_ops.softmax(tensor, dim=-1)
    assert made.layout is ttnn.TILE_LAYOUT and made.device() is device
    assert torch.allclose(made.cpu().to(ttnn.ROW_MAJOR_LAYOUT).to_torch().float(),
                          torch.softmax(values, -1), atol=0.01)
    padded = tt_lib.fallback_ops.pad(tensor, (0, 0, 0, 32), value=1.0)
    assert list(padded.shape) == [1, 1, 64, 64]
    assert tt_lib.fallback_ops.reshape(tensor, 1, 1, 64, 32).shape == [1, 1, 64, 32]


def test_reports(device):
    tensor = ttnn.ones([64, 64], layout=ttnn.TILE_LAYOUT, device=device,
                       memory_config=ttnn.L1_MEMORY_CONFIG)
    buffers = ttnn._ttnn.reports.get_buffers([device])
    assert [one.buffer_type for one in buffers] == [ttnn.BufferType.L1]
    assert buffers[0].max_size_per_bank == 2048 and buffers[0].address == tensor.buffer_address()
    pages = ttnn._ttnn.reports.get_buffer_pages(device)
    assert [one.page_index for one in pages] == [0, 1, 2, 3]
    info = ttnn._ttnn.reports.get_device_info(device)
    assert info.worker_l1_size == 1499136 and info.num_compute_cores == device.core_grid.num_cores
