// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/changed_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "engines/program/op_attributes.h"

namespace howard::profiler {
namespace {

/// Returns the logical size of "32[19]", and of "32" all of it.
std::string_view logical(std::string_view dimension) {
  const std::size_t open = dimension.find('[');
  if (open == std::string_view::npos) return dimension;
  dimension.remove_prefix(open + 1);
  return dimension.substr(0, dimension.find(']'));
}

std::string sizes_of(const std::vector<TensorCells>& tensors) {
  std::string text;
  for (const TensorCells& tensor : tensors) {
    for (const std::string_view dimension : tensor.dimensions) {
      text += logical(dimension);
      text += 'x';
    }
    text += ' ';
  }
  return text;
}

/// Returns "DRAM interleaved" of "DEV_1_DRAM_INTERLEAVED".
std::string memory_words(std::string_view memory) {
  constexpr std::string_view kDevice = "DEV_";
  if (memory.starts_with(kDevice)) {
    memory.remove_prefix(std::min(memory.size(), memory.find('_', kDevice.size()) + 1));
  }
  std::string words;
  for (const std::string& word : split(memory, '_')) {
    if (!words.empty()) words += ' ';
    words += word == "DRAM" || word == "L1" ? word : lower_case(word);
  }
  return words;
}

/// Says that a thing is another one, where it is.
void add_change(std::string_view name, const std::string& before, const std::string& after,
                std::vector<std::string>& changes) {
  if (before == after) return;
  const auto text = [](const std::string& value) {
    constexpr std::size_t kLongest = 40;
    if (value.empty()) return std::string("none");
    return value.size() <= kLongest ? value : value.substr(0, kLongest) + "...";
  };
  changes.push_back(
      fmt::format("{}{}{} -> {}", name, name.empty() ? "" : " ", text(before), text(after)));
}

void add_tensors(std::string_view name, const std::vector<TensorCells>& before,
                 const std::vector<TensorCells>& after, std::vector<std::string>& changes) {
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const std::string place = fmt::format("{}{}", name, i);
    add_change(place, memory_words(before[i].memory), memory_words(after[i].memory), changes);
    add_change(place, lower_case(before[i].datatype), lower_case(after[i].datatype), changes);
    add_change(place, lower_case(before[i].layout), lower_case(after[i].layout), changes);
  }
}

void add_values(std::string_view name, std::string_view before, std::string_view after,
                std::vector<std::string>& changes) {
  if (before == after) return;
  const auto type_of = [](std::string_view text) { return text.substr(0, text.find('(')); };
  const auto members = ttnn_members(after);
  if (type_of(after).empty())
    return add_change(name, std::string(before), std::string(after), changes);
  if (type_of(before) != type_of(after) || members.empty()) {
    return add_change(name, std::string(type_of(before)), std::string(type_of(after)), changes);
  }
  for (const auto& [member, value] : members) {
    add_change(member, std::string(ttnn_member(before, member).value_or("")), std::string(value),
               changes);
  }
}

}  // namespace

std::string work_of(const OpRow& call) {
  return fmt::format("{}: {}-> {}", call.name, sizes_of(call.inputs), sizes_of(call.outputs));
}

std::vector<std::string> differences(const OpRow& before, const OpRow& after) {
  std::vector<std::string> changes;
  add_tensors("in", before.inputs, after.inputs, changes);
  add_tensors("out", before.outputs, after.outputs, changes);
  add_change("", std::string(before.fidelity), std::string(after.fidelity), changes);
  std::map<std::string_view, std::pair<std::string_view, std::string_view>> values;
  for (const auto& [name, value] : OpAttributes(before.attributes).unread()) {
    values[name].first = value;
  }
  for (const auto& [name, value] : OpAttributes(after.attributes).unread()) {
    values[name].second = value;
  }
  for (const auto& [name, both] : values) add_values(name, both.first, both.second, changes);
  return changes;
}

}  // namespace howard::profiler
