// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/steps/buffer_plan.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <variant>

#include "base/check.h"

namespace howard::autograd {
namespace {

/// Says when a buffer's values are needed. Program i reads its operands at time 2i and writes at 2i
/// + 1; operands that its result must not replace are still needed at 2i + 1.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;
};

constexpr std::size_t kAlways = std::numeric_limits<std::size_t>::max();

using Lifetimes = std::map<BufferId, Lifetime>;

/// Returns what must be equal in two buffers that share memory, both on devices that pad and on
/// devices that do not.
auto size_class(const TensorSpec& spec) {
  return std::make_tuple(spec.dtype, spec.layout, spec.storage, spec.host_bytes().value(),
                         spec.padded_bytes().value());
}

/// Returns whether the result of `program` may replace an operand. Only an operand of the same size
/// is considered. Its elements are then used one by one, because a broadcast operand has fewer
/// elements.
bool is_elementwise(const Program& program) {
  return std::holds_alternative<EltwiseAttributes>(program.attributes);
}

Lifetimes lifetimes(const StepRecorder& recorder) {
  Lifetimes result;
  const auto is_recorded = [&](BufferId buffer) { return recorder.buffers().contains(buffer); };
  for (const auto& [id, buffer] : recorder.buffers()) {
    if (!buffer.values.empty()) result[id] = {0, kAlways};
  }
  std::size_t time = 0;
  for (const Program& program : recorder.programs()) {
    for (const Operand& input : program.inputs) {
      if (!is_recorded(input.buffer)) continue;
      HOWARD_CHECK(result.contains(input.buffer), "a step reads only what it has written");
      std::size_t& last = result[input.buffer].last;
      last = std::max(last, is_elementwise(program) ? time : time + 1);
    }
    for (const Operand& output : program.outputs) {
      if (!is_recorded(output.buffer)) continue;
      const auto [entry, added] = result.try_emplace(output.buffer, Lifetime{time + 1, time + 1});
      if (!added) entry->second.last = std::max(entry->second.last, time + 1);
    }
    time += 2;
  }
  for (const auto& [id, buffer] : recorder.buffers()) {
    const auto used = result.find(id);
    if (used != result.end() && !buffer.released) used->second.last = kAlways;
  }
  return result;
}

}  // namespace

BufferPlan plan_buffers(const StepRecorder& recorder) {
  const Lifetimes needed = lifetimes(recorder);
  std::vector<BufferId> order;
  for (const auto& [id, lifetime] : needed) order.push_back(id);
  std::ranges::stable_sort(order, {}, [&](BufferId id) { return needed.at(id).first; });

  BufferPlan plan;
  std::vector<std::size_t> busy_until;
  std::map<decltype(size_class({{1}})), std::vector<std::size_t>> places_of_size;
  for (const BufferId id : order) {
    const TensorSpec& spec = recorder.buffers().at(id).spec;
    const Lifetime& lifetime = needed.at(id);
    std::vector<std::size_t>& candidates = places_of_size[size_class(spec)];
    auto place = std::ranges::find_if(
        candidates, [&](std::size_t candidate) { return busy_until[candidate] < lifetime.first; });
    if (place == candidates.end()) {
      place = candidates.insert(candidates.end(), plan.places.size());
      plan.places.push_back(spec);
      busy_until.push_back(0);
      plan.planned += spec.padded_bytes();
    }
    plan.place[id] = *place;
    busy_until[*place] = lifetime.last;
    // A buffer that stays to the end is read from outside, under the shape that it has there.
    if (lifetime.last == kAlways) plan.places[*place] = spec;
    plan.unshared += spec.padded_bytes();
  }
  return plan;
}

}  // namespace howard::autograd
