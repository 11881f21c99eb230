# SPDX-License-Identifier: Apache-2.0
"""Operations against the golden functions that ttnn has for them."""

import pytest
import torch

import ttnn
from models.common.utility_functions import torch_random
from tests.ttnn.utils_for_testing import assert_with_pcc


@pytest.mark.parametrize("h, w", [(32, 32), (64, 128)])
@pytest.mark.parametrize("name", ["exp", "gelu", "sigmoid", "square", "tanh", "hardswish"])
def test_unary(device, h, w, name):
    torch.manual_seed(0)
    function = getattr(ttnn, name)
    values = torch_random((1, 1, h, w), -2, 2, dtype=torch.bfloat16)
    golden = ttnn.get_golden_function(function)
    made = function(ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device), queue_id=0)
    assert_with_pcc(golden(values.float()), ttnn.to_torch(made).float(), 0.999)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "rsub", "maximum", "atan2"])
@pytest.mark.parametrize("use_legacy", [None, False])
def test_binary(device, reset_seeds, name, use_legacy):
    function = getattr(ttnn, name)
    a, b = torch.rand(2, 64, 96), torch.rand(64, 96) + 0.5
    tensors = [ttnn.from_torch(one, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
               for one in (a, b)]
    made = function(*tensors, use_legacy=use_legacy)
    golden = ttnn.get_golden_function(function)(a, b)
    assert_with_pcc(golden, ttnn.to_torch(made), 0.9999)


@pytest.mark.parametrize("activation", [None, "relu", "silu", "gelu_approx"])
@pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)
def test_linear(device, activation):
    torch.manual_seed(0)
    a, b, bias = torch.randn(1, 64, 128), torch.randn(128, 96), torch.randn(1, 96)
    golden = ttnn.get_golden_function(ttnn.linear)(a, b, bias=bias, activation=activation)
    tensors = [ttnn.from_torch(one, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
               for one in (a, b, bias)]
    made = ttnn.linear(tensors[0], tensors[1], bias=tensors[2], activation=activation)
    assert_with_pcc(golden, ttnn.to_torch(made).float(), 0.999)


def test_backward(device):
    torch.manual_seed(0)
    values = torch.randn(1, 1, 32, 64, requires_grad=True)
    grad = torch.randn(1, 1, 32, 64)
    tensors = [ttnn.from_torch(one.detach(), ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
               for one in (grad, values)]
    golden = ttnn.get_golden_function(ttnn.tanh_bw)(grad, values)
    made = ttnn.tanh_bw(*tensors)
    assert len(golden) == len(made) == 1
    assert_with_pcc(golden[0], ttnn.to_torch(made[0]), 0.999)


def test_an_operation_of_ones_own(device):
    @ttnn.register_python_operation(name="ttnn.own.twice", golden_function=lambda x: x * 2)
    def twice(tensor):
        return ttnn.add(tensor, tensor)

    values = torch.rand(32, 32)
    made = ttnn.own.twice(ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device))
    assert_with_pcc(ttnn.get_golden_function(twice)(values), ttnn.to_torch(made).float(), 0.999)
    with pytest.raises(RuntimeError, match="already registered"):
        ttnn.register_python_operation(name="ttnn.own.twice")(lambda tensor: tensor)


def test_the_settings_are_named_after_the_test():
    assert ttnn.CONFIG.report_path.name.startswith("tests_ttnn_unit_tests_test_operations_py")
    ttnn.CONFIG.comparison_mode_pcc = 0.5
    with pytest.raises(ValueError, match="Unknown configuration key: nonesuch"):
        ttnn.load_config_from_dictionary({"nonesuch": 1})


def test_the_settings_come_back():
    assert ttnn.CONFIG.comparison_mode_pcc == pytest.approx(0.9999, abs=1e-6)
    with pytest.raises(TypeError):
        ttnn.Config()


@pytest.mark.requires_fast_runtime_mode_off
def test_calls_are_compared(device):
    values = torch.rand(32, 32)
    tensor = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    wrong = ttnn.register_python_operation(
        name="ttnn.own.wrong", golden_function=lambda x: -x)(lambda x: ttnn.add(x, x))
    with ttnn.manage_config("enable_comparison_mode", True):
        with ttnn.manage_config("comparison_mode_should_raise_exception", True):
            ttnn.exp(tensor)
            with pytest.raises(RuntimeError, match="ttnn.own.wrong: output tensor 0 .* locally"):
                wrong(tensor)
        assert wrong(tensor).shape == [32, 32]
    wrong(tensor)
