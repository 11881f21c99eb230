// SPDX-License-Identifier: Apache-2.0
#include "experiments/checks/op_checks.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "engines/autograd/host_values.h"
#include "engines/ops/tensor.h"
#include "engines/reference/reference_device.h"

namespace howard::experiments {
namespace {

using autograd::Calls;
using ops::Tensor;
using Inputs = std::span<const Tensor>;
using Kind = CheckInput::Kind;

const Shape kRows{32, 64, 128};
const Shape kSquare{128, 128};
const Shape kFlat{2048, 128};
const Shape kScores{32, 4, 64, 64};
const Shape kHeads{32, 4, 64, 32};
const Shape kHidden{32, 64, 512};

Tensor embedding_forward(const Calls& calls, Inputs in) {
  return calls.call(EmbeddingAttributes{}, {in[0], in[1]});
}

Tensor linear_forward(const Calls& calls, Inputs in) {
  return calls.add(calls.matmul(in[0], in[1], Calls::Transposed::b), in[2]);
}

Tensor linear_d_bias(const Calls& calls, Inputs in) {
  return calls.reduce(Reduction::sum, Dimension::rows,
                      calls.reduce(Reduction::sum, Dimension::batch, in[0]));
}

/// The report's engine has no kernel for it and makes four calls.
Tensor softmax_backward(const Calls& calls, Inputs in) {
  const Tensor y = calls.call(SoftmaxAttributes{}, {in[0]});
  const Tensor sum = calls.reduce(Reduction::sum, Dimension::columns, calls.multiply(y, in[1]));
  return calls.multiply(y, calls.subtract(in[1], sum));
}

/// It has no scale and no shift.
Tensor layernorm_forward(const Calls& calls, Inputs in) {
  return calls.call(LayernormAttributes{.epsilon = 1e-5F}, {in[0]});
}

std::vector<OpCheck> make_checks() {
  const CheckInput rows{kRows, Kind::normal, 0.1};
  const CheckInput weights{kSquare, Kind::constant, 0.01};
  const CheckInput flat{kFlat, Kind::normal, 0.1};
  const CheckInput scores{kScores, Kind::normal, 0.5};
  const CheckInput hidden{kHidden, Kind::normal, 0.1};
  const CheckInput heads{kHeads, Kind::normal, 0.1};
  return {
      {"embedding_forward",
       {{{32, 64}, Kind::indices, 64}, {{64, 128}, Kind::constant, 0.02, Layout::row_major}},
       embedding_forward},
      {"linear_forward", {rows, weights, {{1, 128}, Kind::constant, 0}}, linear_forward},
      {"linear_d_input",
       {rows, weights},
       [](const Calls& calls, Inputs in) { return calls.matmul(in[0], in[1]); }},
      {"linear_d_weight",
       {flat, flat},
       [](const Calls& calls, Inputs in) {
         return calls.matmul(in[0], in[1], Calls::Transposed::a);
       }},
      {"linear_d_bias", {rows}, linear_d_bias},
      {"softmax_forward",
       {scores},
       [](const Calls& calls, Inputs in) { return calls.call(SoftmaxAttributes{}, {in[0]}); }},
      {"softmax_backward", {scores, {kScores, Kind::normal, 0.1}}, softmax_backward},
      {"gelu_forward",
       {hidden},
       [](const Calls& calls, Inputs in) { return calls.eltwise(Eltwise::gelu, in[0]); }},
      {"gelu_backward",
       {hidden, hidden},
       [](const Calls& calls, Inputs in) {
         return calls.call(GeluBackwardAttributes{.fused = true}, in);
       },
       0.15,
       0.1},
      {"layernorm_forward", {rows}, layernorm_forward},
      {"attention_qk",
       {heads, heads},
       [](const Calls& calls, Inputs in) {
         return calls.matmul(in[0], in[1], Calls::Transposed::b);
       }},
  };
}

/// Returns the numbers of an input before any rounding; they may be indices.
std::vector<float> numbers(const CheckInput& input, std::mt19937_64& random) {
  std::vector<float> values(static_cast<std::size_t>(input.shape.elements()),
                            static_cast<float>(input.value));
  if (input.kind == Kind::constant) return values;
  std::normal_distribution<double> normal(0, input.value);
  const auto indices = static_cast<std::uint64_t>(input.value);
  for (float& value : values) {
    value = static_cast<float>(input.kind == Kind::indices ? static_cast<double>(random() % indices)
                                                           : normal(random));
  }
  return values;
}

Tensor written(Device& device, const CheckInput& input, const std::vector<float>& values,
               DataType dtype) {
  CommandQueue& queue = device.command_queue(0);
  if (input.kind != Kind::indices) {
    const Tensor tensor(device, {.shape = input.shape, .dtype = dtype, .layout = input.layout});
    autograd::write_values(queue, tensor, values);
    return tensor;
  }
  const Tensor tensor(
      device, {.shape = input.shape, .dtype = DataType::uint32, .layout = Layout::row_major});
  const std::vector<std::uint32_t> indices(values.begin(), values.end());
  autograd::write_indices(queue, tensor, indices);
  return tensor;
}

std::vector<Tensor> all_written(Device& device, const OpCheck& check,
                                const std::vector<std::vector<float>>& values, DataType dtype) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensors.push_back(written(device, check.inputs[i], values[i], dtype));
  }
  return tensors;
}

/// Computes in float64, on the inputs as `dtype` holds them.
reference::Values exact(const OpCheck& check, const std::vector<std::vector<float>>& values,
                        DataType dtype) {
  reference::ReferenceDevice device;
  const std::vector<Tensor> inputs = all_written(device, check, values, dtype);
  return device.values(check.run(Calls(device), inputs));
}

}  // namespace

const std::vector<OpCheck>& op_checks() {
  static const std::vector<OpCheck> checks = make_checks();
  return checks;
}

OpFinding check_op(Device& device, const OpCheck& check, DataType dtype, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<float>> values;
  for (const CheckInput& input : check.inputs) values.push_back(numbers(input, random));

  const std::vector<Tensor> inputs = all_written(device, check, values, dtype);
  const std::vector<float> computed =
      autograd::read_values(device.command_queue(0), check.run(Calls(device), inputs));
  const reference::Values unrounded = exact(check, values, DataType::float32);
  const reference::Values rounded =
      dtype == DataType::float32 ? unrounded : exact(check, values, dtype);

  OpFinding finding{.passes = true, .zeros_pass = true};
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const double size = std::abs(unrounded[i]);
    const double allowed = check.absolute + check.relative * size;
    const double difference = std::abs(double{computed[i]} - unrounded[i]);
    finding.max_difference = std::max(finding.max_difference, difference);
    finding.kernel_difference =
        std::max(finding.kernel_difference, std::abs(double{computed[i]} - rounded[i]));
    finding.max_reference = std::max(finding.max_reference, size);
    // It is written so that NaN does not pass.
    finding.passes = finding.passes && difference <= allowed;
    finding.zeros_pass = finding.zeros_pass && size <= allowed;
  }
  return finding;
}

}  // namespace howard::experiments
