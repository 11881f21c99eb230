// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/tape.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engines/autograd/functions/collective/divided_parameter.h"
#include "engines/autograd/host_values.h"

namespace howard::autograd {

/// Stands behind the output of a part of a model: the backward pass comes here first.
struct GatheredAgain {
  Value output;
  std::uint32_t part;

  void backward(Tape& tape, Value same) const {
    tape.gather_part(part);
    tape.accumulate(output, tape.gradient(same));
  }
};

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
  if (parameter.sharers != nullptr) return whole_parameter(parameter);
  return own_parameter(parameter);
}

void Tape::open_part() { open_parts_.push_back(parts_++); }

Value Tape::close_part(Value output) {
  HOWARD_CHECK(!open_parts_.empty(), "a part that has begun");
  const std::uint32_t part = open_parts_.back();
  open_parts_.pop_back();
  bool gathers = false;
  for (const Gathered& one : gathered_) {
    if (one.part != part) continue;
    gathers = true;
    variable(one.whole).tensor = tensor(one.share);  // the whole is released
  }
  if (!gathers) return output;
  const ops::Tensor same = tensor(output);
  return record(same, {output}, GatheredAgain{output, part});
}

void Tape::gather_part(std::uint32_t part) {
  for (const Gathered& one : gathered_) {
    if (one.part != part) continue;
    variable(one.whole).tensor = gathered(calls_, tensor(one.share), *one.parameter->sharers);
  }
}

Value Tape::whole_parameter(Parameter& parameter) {
  HOWARD_CHECK(!open_parts_.empty(), "a divided parameter is used in a part of a model");
  for (const Gathered& one : gathered_) {
    const bool open = std::ranges::find(open_parts_, one.part) != open_parts_.end();
    if (open && one.parameter == &parameter) return one.whole;
  }
  const Value share = own_parameter(parameter);
  const Value whole = gathered_parameter(*this, share, parameter);
  gathered_.push_back({&parameter, share, whole, open_parts_.back()});
  return whole;
}

Value Tape::own_parameter(Parameter& parameter) {
  const ops::Tensor& value = parameter.value;
  const bool same = value.spec().dtype == options_.compute;
  const Value added = add_variable(same ? value : calls_.cast(value, options_.compute),
                                   options_.records && parameter.trained);
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
