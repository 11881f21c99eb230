// SPDX-License-Identifier: Apache-2.0
#include "engines/models/experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/rows/routing.h"
#include "engines/autograd/host_values.h"

namespace howard::models {
namespace {

using autograd::Calls;
using autograd::Tape;
using autograd::Value;
using ops::Tensor;

/// Lowers the scores of experts that are in none of a token's best groups below all others. The
/// score of a group is the sum of its two best experts'.
Tensor limited_to_groups(const Calls& calls, const Tensor& ranked, const DeepSeekOptions& options) {
  constexpr float kBelowAll = -1e9F;
  const Shape shape = ranked.spec().shape;
  const std::int64_t size = options.experts / options.groups;
  const Tensor grouped = calls.reshape(ranked, {shape.batch(), shape.rows(), options.groups, size});
  const std::int64_t best = std::min<std::int64_t>(2, size);
  const std::vector<Tensor> largest = calls.call_all(TopkAttributes{.k = best}, {grouped});
  const Tensor sums = calls.reduce(Reduction::sum, Dimension::columns, largest[0]);
  const Tensor of_groups = calls.reshape(sums, shape.with_columns(options.groups));
  const Tensor allowed = calls.reshape(autograd::ones_at_largest(calls, of_groups, options.limited),
                                       sums.spec().shape);
  const EltwiseAttributes where{.function = Eltwise::where, .scalar = kBelowAll};
  return calls.reshape(calls.call(where, {allowed, grouped}), shape);
}

}  // namespace

Experts::Experts(const ParameterMaker& make, const std::string& name, const ModelOptions& options)
    : gate_(make.matrix(name + "/gate/weight", options.deepseek.experts, options.width)),
      shared_(make, name + "/shared_experts", options.width,
              options.deepseek.shared * options.deepseek.expert_width),
      bias_{name + "/expert_bias",
            {make.device,
             TensorSpec{.shape = {1, options.deepseek.experts}, .dtype = DataType::float32}},
            {}},
      counts_(make.device, bias_.value.spec()) {
  for (int i = 0; i < options.deepseek.experts; ++i) {
    experts_.emplace_back(make, fmt::format("{}/experts/{}", name, i), options.width,
                          options.deepseek.expert_width);
  }
  // On a device that keeps only the time, nothing reads them.
  if (!make.device.holds_values()) return;
  autograd::write_constant(make.device.command_queue(0), bias_.value, 0);
  autograd::write_constant(make.device.command_queue(0), counts_, 0);
}

std::vector<autograd::Parameter*> Experts::all() {
  std::vector<autograd::Parameter*> all{&gate_};
  for (FeedForward& expert : experts_) {
    const auto own = expert.all();
    all.insert(all.end(), own.begin(), own.end());
  }
  const auto own = shared_.all();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

/// Returns 1 for the experts of each token and 0 for the others.
Tensor Experts::chosen(const Calls& calls, const Tensor& scores,
                       const DeepSeekOptions& options) const {
  const DataType dtype = scores.spec().dtype;
  const bool same = dtype == bias_.value.spec().dtype;
  const Tensor bias = same ? bias_.value : calls.cast(bias_.value, dtype);
  Tensor ranked = calls.add(scores, bias);
  if (options.limited < options.groups) ranked = limited_to_groups(calls, ranked, options);
  return autograd::ones_at_largest(calls, ranked, options.chosen);
}

void Experts::count(const Calls& calls, const Tensor& mask) const {
  const bool same = mask.spec().dtype == DataType::float32;
  const Tensor numbers = calls.rows_joined(same ? mask : calls.cast(mask, DataType::float32));
  const Tensor sums = calls.reduce(Reduction::sum, Dimension::rows, numbers);
  calls.run(make_program(eltwise_of(Eltwise::add), {counts_, sums}, {counts_}));
}

Value Experts::run(Tape& tape, Value x, const ModelOptions& options) {
  const DeepSeekOptions& own = options.deepseek;
  const bool sigmoid = own.scores == ScoreFunction::sigmoid;
  const Value products = autograd::project(tape, x, tape.parameter(gate_));
  const Value scores =
      sigmoid ? autograd::sigmoid(tape, products) : autograd::softmax(tape, products);
  const Value mask = tape.constant(chosen(tape.calls(), tape.tensor(scores), own));
  if (tape.options().records) count(tape.calls(), tape.tensor(mask));
  const Value shares = sigmoid ? autograd::normalized_shares(tape, scores, mask, own.route_scale)
                               : autograd::masked_shares(tape, scores, mask, own.route_scale);
  Value sum = shared_.run(tape, x, options);
  for (std::size_t i = 0; i < experts_.size(); ++i) {
    const Value result = experts_[i].run(tape, x, options);
    sum = autograd::add(tape, sum,
                        autograd::scaled_rows(tape, result, shares, static_cast<std::int64_t>(i)));
  }
  return sum;
}

void Experts::move_bias(CommandQueue& queue) {
  const std::vector<float> counts = autograd::read_values(queue, counts_);
  const std::vector<float> old = autograd::read_values(queue, bias_.value);
  const auto mean_of = [](const auto& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double mean = mean_of(counts);
  std::vector<double> moved;
  for (std::size_t i = 0; i < old.size(); ++i) {
    const double below = mean - double{counts[i]};
    const double step = below > 0 ? kBiasStep : below < 0 ? -kBiasStep : 0;
    moved.push_back(double{old[i]} + step);
  }
  const double middle = mean_of(moved);
  std::vector<float> centred;
  for (const double value : moved) centred.push_back(static_cast<float>(value - middle));
  autograd::write_values(queue, bias_.value, centred);
  autograd::write_constant(queue, counts_, 0);
}

}  // namespace howard::models
