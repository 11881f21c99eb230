// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/columns.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

void add_column(Table& table, TableColumn column, const std::vector<std::string>& texts) {
  if (table.columns.empty()) {
    table.rows.resize(texts.size());
  } else if (std::ranges::all_of(texts, [](const std::string& text) { return text.empty(); })) {
    return;
  }
  HOWARD_CHECK(table.rows.size() == texts.size(), "all columns of a table have the same rows");
  table.columns.push_back(std::move(column));
  for (std::size_t i = 0; i < texts.size(); ++i) table.rows[i].cells.push_back({.text = texts[i]});
}

}  // namespace

void add_words(Table& table, TableColumn column, const std::vector<std::string>& words) {
  add_column(table, std::move(column), words);
}

void add_words(Table& table, std::string title, const std::vector<std::string>& words) {
  add_column(table, {.title = std::move(title)}, words);
}

void add_counts(Table& table, std::string title,
                const std::vector<std::optional<std::uint64_t>>& counts) {
  std::vector<std::string> texts;
  for (const auto& count : counts) texts.push_back(count ? std::to_string(*count) : "");
  add_column(table, {.title = std::move(title), .number = true}, texts);
}

void add_quantities(Table& table, std::string title, std::string_view unit,
                    const std::vector<std::optional<double>>& values) {
  std::vector<double> present;
  for (const std::optional<double>& value : values) {
    if (value) present.push_back(*value);
  }
  const Scale scale = fit_scale(unit, present);
  std::vector<std::string> texts;
  for (const std::optional<double>& value : values) {
    texts.push_back(value ? format_number(*value, scale) : "");
  }
  add_column(table, {.title = std::move(title), .unit = scale.unit, .number = true}, texts);
}

}  // namespace howard::reports
