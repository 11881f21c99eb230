// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/tape.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engines/autograd/host_values.h"

namespace howard::autograd {
Tape::Tape(Device& device, const TapeOptions& options)
    : calls_(device, options.calls), options_(options), seed_(options.seed) {}

const Tape::Variable& Tape::variable(Value value) const {
  HOWARD_CHECK(value.index < variables_.size(), "a value of this tape that it still holds");
  return variables_[value.index];
}

Value Tape::add_variable(ops::Tensor tensor, bool needs_gradient) {
  variables_.push_back({std::move(tensor), std::nullopt, nullptr, needs_gradient});
  return {static_cast<std::uint32_t>(variables_.size() - 1)};
}

Value Tape::constant(ops::Tensor tensor) { return add_variable(std::move(tensor), false); }

Value Tape::leaf(ops::Tensor tensor) { return add_variable(std::move(tensor), true); }

Value Tape::parameter(Parameter& parameter) {
  const ops::Tensor& value = parameter.value;
  const bool same = value.spec().dtype == options_.compute;
  const Value added =
      add_variable(same ? value : calls_.cast(value, options_.compute), options_.records);
  variable(added).parameter = &parameter;
  return added;
}

void Tape::accumulate(Value input, ops::Tensor gradient) {
  if (!needs_gradient(input)) return;
  const DataType dtype = spec(input).dtype;
  if (gradient.spec().dtype != dtype) gradient = calls_.cast(gradient, dtype);
  Variable& target = variable(input);
  std::optional<ops::Tensor>& total =
      target.parameter != nullptr ? target.parameter->gradient : target.gradient;
  total = total ? calls_.add(*total, gradient) : std::move(gradient);
}

ops::Tensor Tape::gradient(Value output) {
  Variable& source = variable(output);
  if (source.gradient) return *source.gradient;
  const TensorSpec& spec = source.tensor.spec();
  if (!loss_ || loss_->index != output.index) return calls_.fill(0, spec);
  source.gradient = calls_.make(spec);
  write_values(calls_.queue(), *source.gradient, std::span(&loss_gradient_, 1));
  return *source.gradient;
}

bool Tape::has_gradient(const Node& node) const {
  if (loss_ && loss_->index == node.output.index) return true;
  const auto outputs = std::span(variables_).subspan(node.output.index, node.outputs);
  return std::ranges::any_of(outputs, [](const Variable& output) { return !!output.gradient; });
}

void Tape::unwind() {
  calls_.device().host_work(HostWork::graph_node, static_cast<int>(nodes_.size()));
  while (!nodes_.empty()) {
    const Node node = nodes_.back();
    if (has_gradient(node)) node.run(node.data.data(), *this, node.output);
    nodes_.pop_back();
    const std::uint32_t kept = nodes_.empty() ? node.output.index : node.first_value;
    while (variables_.size() > kept) variables_.pop_back();
  }
}

void Tape::backward(Value loss, float gradient) {
  HOWARD_CHECK(options_.records && needs_gradient(loss), "a loss that depends on a parameter");
  HOWARD_CHECK(spec(loss).shape.elements() == 1, "a loss is one number");
  loss_gradient_ = gradient;
  loss_ = loss;
  unwind();
}

void Tape::backward(Value output, const ops::Tensor& gradient) {
  HOWARD_CHECK(options_.records && needs_gradient(output), "a value that depends on a parameter");
  require_results("backward", std::array{role::reals("gradient")}, std::array{spec(output)},
                  std::array{gradient.spec()}, {});
  variable(output).gradient = gradient;
  unwind();
}

}  // namespace howard::autograd
