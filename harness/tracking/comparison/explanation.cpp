// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "reports/tables/format.h"

namespace howard::tracking {
namespace {

constexpr std::size_t kMostParts = 3;
constexpr std::size_t kMostWords = 3;
constexpr std::size_t kLongestWords = 60;
constexpr std::ptrdiff_t kMostBlanks = 5;

std::string shortened(const std::string& words) {
  return words.size() <= kLongestWords ? words : words.substr(0, kLongestWords) + "...";
}

}  // namespace

Explainer::Rows Explainer::rows_of(const Run& run) {
  Rows rows;
  for (const Row& row : run.rows) {
    if (row.series.is_part() || row.series.kind == Kind::words) {
      rows.emplace(Key{row.series.benchmark, row.series.metric}, &row);
    }
  }
  return rows;
}

Explainer::Explainer(const Run& before, const Run& after)
    : before_(rows_of(before)),
      after_(rows_of(after)),
      constants_(moved_constants(before, after)) {}

std::string Explainer::moved_parts(const std::string& benchmark) const {
  std::vector<std::pair<std::int64_t, std::string>> moved;
  const auto add = [&](const Row& row, std::int64_t picoseconds) {
    if (row.series.kind != Kind::exact || picoseconds == 0) return;
    moved.emplace_back(picoseconds, row.series.metric.substr(row.series.metric.find('.') + 1));
  };
  for (auto now = after_.lower_bound({benchmark, ""});
       now != after_.end() && now->first.first == benchmark; ++now) {
    const auto old = before_.find(now->first);
    add(*now->second,
        now->second->picoseconds - (old == before_.end() ? 0 : old->second->picoseconds));
  }
  for (auto old = before_.lower_bound({benchmark, ""});
       old != before_.end() && old->first.first == benchmark; ++old) {
    if (!after_.contains(old->first)) add(*old->second, -old->second->picoseconds);
  }
  std::ranges::stable_sort(moved, std::greater{},
                           [](const auto& one) { return std::abs(one.first); });
  std::string text;
  for (std::size_t i = 0; i < std::min(moved.size(), kMostParts); ++i) {
    const double seconds = static_cast<double>(std::abs(moved[i].first)) * 1e-12;
    text += fmt::format("{}{} {}{}", i == 0 ? "" : ", ", moved[i].second,
                        moved[i].first > 0 ? '+' : '-', reports::format_quantity(seconds, "s"));
  }
  if (moved.size() > kMostParts) text += fmt::format(", {} more", moved.size() - kMostParts);
  return text;
}

std::string Explainer::moved_words(const std::string& benchmark) const {
  std::string text;
  std::size_t count = 0;
  for (auto now = after_.lower_bound({benchmark, ""});
       now != after_.end() && now->first.first == benchmark; ++now) {
    const auto old = before_.find(now->first);
    if (now->second->series.kind != Kind::words || old == before_.end() ||
        old->second->words == now->second->words) {
      continue;
    }
    // Sentences repeat the numbers that moved; a fact has a few words.
    if (std::ranges::count(now->second->words, ' ') > kMostBlanks) continue;
    if (count++ == kMostWords) break;
    text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : "; ", now->first.second,
                        shortened(old->second->words), shortened(now->second->words));
  }
  return text;
}

std::string Explainer::explain(const Series& series) const {
  std::string text = moved_parts(series.benchmark);
  const std::string words = moved_words(series.benchmark);
  if (!words.empty()) text += (text.empty() ? "" : "; ") + words;
  if (constants_.size() == 1) text += (text.empty() ? "" : "; ") + constants_.front();
  return text;
}

}  // namespace howard::tracking
