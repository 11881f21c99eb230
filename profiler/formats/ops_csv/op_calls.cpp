// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/op_calls.h"

#include <algorithm>
#include <array>
#include <utility>

namespace howard::profiler {
namespace {

/// Returns what stands where a tensor is, so that devices make the same calls: of
/// "DEV_3_DRAM_INTERLEAVED" the parts "DEV_0" and "_DRAM_INTERLEAVED", of another text "" and the
/// text.
std::pair<std::string_view, std::string_view> of_any_device(std::string_view text) {
  constexpr std::string_view kDevice = "DEV_";
  if (!text.starts_with(kDevice)) return {"", text};
  const std::string_view number = text.substr(kDevice.size());
  return {"DEV_0", number.substr(std::min(number.find_first_not_of("0123456789"), number.size()))};
}

/// Calls `visit` with each text of a call, in an order of its own.
template <class Row, class Visitor>
void for_each_text(Row& row, const Visitor& visit) {
  for (auto* const text : {&row.name, &row.architecture, &row.attributes, &row.fidelity}) {
    visit(*text);
  }
  for (auto* const tensors : {&row.inputs, &row.outputs}) {
    for (auto& tensor : *tensors) {
      for (auto& side : tensor.dimensions) visit(side);
      visit(tensor.layout);
      visit(tensor.datatype);
      visit(tensor.memory);
    }
  }
}

}  // namespace

/// Sets the key: the texts end to end, then what they do not say: the numbers, and how long each
/// text is.
void OpCalls::set_key(const OpRow& row) {
  key_.clear();
  std::string lengths;
  const auto append = [&](std::uint64_t number) {
    lengths.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for_each_text(row, [&](std::string_view text) {
    const auto [device, rest] = of_any_device(text);
    key_ += device;
    key_ += rest;
    append(device.size() + rest.size());
  });
  append(row.inputs.size());
  append(static_cast<std::uint64_t>(row.cores.value_or(-1)));
  append(static_cast<std::uint64_t>(row.worker_cores.value_or(-1)));
  key_ += lengths;
}

std::uint32_t OpCalls::id(const OpRow& row) {
  set_key(row);
  if (const auto found = ids_.find(key_); found != ids_.end()) {
    count(found->second, row);
    return found->second;
  }
  if (calls_.size() == kMost) return 0;
  const std::string& kept = texts_.emplace_back(key_);
  OpRow& call = calls_.emplace_back(row);
  std::size_t at = 0;
  for_each_text(call, [&](std::string_view& text) {
    const auto [device, rest] = of_any_device(text);
    const std::size_t size = device.size() + rest.size();
    text = std::string_view(kept).substr(at, size);
    at += size;
  });
  call.type = {};
  call.counters.clear();
  const auto id = static_cast<std::uint32_t>(calls_.size());
  ids_.emplace(kept, id);
  count(id, row);
  return id;
}

void OpCalls::count(std::uint32_t id, const OpRow& row) {
  if (row.counters.empty()) return;
  if (counters_.size() < id) counters_.resize(id);
  for (const CountedShare& share : row.counters) {
    CounterSum& sum = counters_[id - 1].at(share.counter);
    sum.sum += share.hundredths;
    ++sum.rows;
  }
}

std::optional<double> OpCalls::counter(std::uint32_t id, std::size_t counter) const {
  if (id > counters_.size()) return std::nullopt;
  const CounterSum& sum = counters_[id - 1].at(counter);
  if (sum.rows == 0) return std::nullopt;
  constexpr double kHundredths = 10'000;
  return static_cast<double>(sum.sum) / kHundredths / static_cast<double>(sum.rows);
}

}  // namespace howard::profiler
