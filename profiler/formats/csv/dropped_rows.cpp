// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/dropped_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace howard::profiler {

void DroppedRows::add(std::string_view reason, std::uint64_t line, std::string_view example,
                      std::uint64_t count) {
  constexpr std::size_t kLongestExample = 60;
  count_ += count;
  auto found = std::ranges::find(reasons_, reason, &Reason::text);
  if (found == reasons_.end() && reasons_.size() == kMostReasons) {
    reason = "other reasons";
    found = std::ranges::find(reasons_, reason, &Reason::text);
  }
  if (found == reasons_.end()) {
    found =
        reasons_.insert(reasons_.end(), {.text = std::string(reason),
                                         .example = std::string(example.substr(0, kLongestExample)),
                                         .first_line = line});
  }
  found->count += count;
}

void DroppedRows::add_of(std::string_view op, std::string_view reason, std::uint64_t line,
                         std::string_view example) {
  add(reason, line, example);
  constexpr std::size_t kMostOps = 1'000;
  const auto found = ops_.find(op);
  if (found != ops_.end()) {
    ++found->second;
  } else if (!op.empty() && ops_.size() < kMostOps) {
    ops_.emplace(op, 1);
  }
}

std::uint64_t DroppedRows::count_of(std::string_view op) const {
  const auto found = ops_.find(op);
  return found != ops_.end() ? found->second : 0;
}

std::string describe(const DroppedRows::Reason& reason) {
  std::string text =
      fmt::format("{} {}: {}", reason.count, reason.count == 1 ? "row" : "rows", reason.text);
  if (reason.first_line != 0) text += fmt::format(", first on line {}", reason.first_line);
  if (!reason.example.empty()) text += fmt::format(": '{}'", reason.example);
  return text;
}

}  // namespace howard::profiler
