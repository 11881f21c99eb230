# SPDX-License-Identifier: Apache-2.0
"""Bundle 9: parameters of torch's modules, golden functions, comparisons. Needs torch."""

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_weight, preprocess_model_parameters
from models.common.utility_functions import torch_random
from tests.ttnn.utils_for_testing import assert_with_pcc

torch.manual_seed(0)
device = ttnn.open_device(device_id=0)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(64, 128), torch.nn.Linear(128, 64)])
        self.scale = torch.nn.Parameter(torch.ones(1, 64))

    def forward(self, x):
        hidden = torch.nn.functional.gelu(self.layers[0](self.norm(x)))
        return x + self.scale * self.layers[1](hidden)


model = Block().eval()
parameters = preprocess_model_parameters(initialize_model=lambda: model, device=device)
assert parameters.layers[0].weight.shape == [64, 128] and parameters.norm.weight.shape == [1, 64]


def run(x, p):
    y = ttnn.layer_norm(x, epsilon=1e-5, weight=p.norm.weight, bias=p.norm.bias)
    y = ttnn.linear(y, p.layers[0].weight, bias=p.layers[0].bias, activation="gelu")
    y = ttnn.linear(y, p.layers[1].weight, bias=p.layers[1].bias)
    scale = ttnn.to_layout(p.scale, ttnn.TILE_LAYOUT)
    return ttnn.add(x, ttnn.multiply(y, scale))


x = torch_random((2, 32, 64), -1, 1, torch.bfloat16)
expected = model(x.float())
with ttnn.manage_config("enable_logging", False):
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
made = ttnn.to_torch(run(tensor, parameters))
assert made.dtype == torch.bfloat16 and made.shape == expected.shape
assert_with_pcc(expected, made.float(), 0.999)
assert preprocess_linear_weight(torch.ones(3, 5), dtype=ttnn.bfloat16).shape == [5, 3]
for operation in (ttnn.exp, ttnn.gelu, ttnn.silu, ttnn.relu, ttnn.tanh, ttnn.sigmoid):
    golden = ttnn.get_golden_function(operation)(x.float())
    assert_with_pcc(golden, ttnn.to_torch(operation(tensor)).float(), 0.999)
assert ttnn.pearson_correlation_coefficient(x.float(), x.float()) == 1.0
for dtype, kind in ((ttnn.bfloat16, torch.bfloat16), (ttnn.float32, torch.float32),
                    (ttnn.bfloat8_b, torch.float32), (ttnn.uint32, torch.int32)):
    there = ttnn.from_torch(torch.arange(64 * 64).reshape(64, 64) % 97, dtype,
                            layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.to_torch(there).dtype == kind
grid = torch.nn.Conv2d(16, 32, 3, padding=1)
image = torch.randn(1, 16, 8, 8)
flat = ttnn.from_torch(image.permute(0, 2, 3, 1).reshape(1, 1, 64, 16), ttnn.float32, device=device)
convolved = ttnn.conv2d(
    input_tensor=flat, weight_tensor=ttnn.from_torch(grid.weight), in_channels=16, out_channels=32,
    bias_tensor=ttnn.from_torch(grid.bias.reshape(1, 1, 1, -1)), device=device, kernel_size=(3, 3),
    stride=(1, 1), padding=(1, 1), batch_size=1, input_height=8, input_width=8)
want = grid(image).permute(0, 2, 3, 1).reshape(1, 1, 64, 32)
assert_with_pcc(want, ttnn.to_torch(convolved).float(), 0.999)
a = x.float().clone().requires_grad_(True)
torch.nn.functional.gelu(a).sum().backward()
(gradient,) = ttnn.gelu_bw(ttnn.ones_like(tensor), tensor)
assert_with_pcc(a.grad, ttnn.to_torch(gradient).float(), 0.999)
ttnn.close_device(device)
