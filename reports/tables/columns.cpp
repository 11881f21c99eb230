// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/columns.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

void add_texts(Table& table, TableColumn column, const std::vector<std::string>& texts) {
  add_column(table, std::move(column),
             each(texts, [](const std::string& text) { return Cell{.text = text}; }));
}

}  // namespace

void add_column(Table& table, TableColumn column, std::vector<Cell> cells) {
  if (table.columns.empty() && table.rows.empty()) {
    table.rows.resize(cells.size());
  } else if (std::ranges::all_of(cells, [](const Cell& cell) { return cell.text.empty(); })) {
    return;
  }
  HOWARD_CHECK(table.rows.size() == cells.size(), "all columns of a table have the same rows");
  table.columns.push_back(std::move(column));
  for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].cells.push_back(std::move(cells[i]));
}

void add_words(Table& table, TableColumn column, const std::vector<std::string>& words) {
  add_texts(table, std::move(column), words);
}

void add_words(Table& table, std::string title, const std::vector<std::string>& words) {
  add_texts(table, {.title = std::move(title)}, words);
}

void make_keys(Table& table, std::initializer_list<std::string_view> titles) {
  for (TableColumn& column : table.columns) {
    if (std::ranges::find(titles, column.title) != titles.end()) column.room = harness::Room::key;
  }
}

void add_counts(Table& table, std::string title,
                const std::vector<std::optional<std::uint64_t>>& counts) {
  std::vector<std::string> texts;
  for (const auto& count : counts) texts.push_back(count ? std::to_string(*count) : "");
  add_texts(table, {.title = std::move(title), .number = true}, texts);
}

void add_compared(Table& table, std::string_view unit, const std::vector<QuantityColumn>& columns) {
  std::vector<double> present;
  for (const QuantityColumn& column : columns) {
    for (const std::optional<double>& value : column.values) {
      if (value) present.push_back(*value);
    }
  }
  const Scale scale = fit_scale(unit, present);
  for (const QuantityColumn& column : columns) {
    std::vector<std::string> texts;
    for (const std::optional<double>& value : column.values) {
      texts.push_back(value ? format_number(*value, scale) : "");
    }
    add_texts(table, {.title = column.title, .unit = scale.unit, .number = true}, texts);
  }
}

void add_quantities(Table& table, std::string title, std::string_view unit,
                    const std::vector<std::optional<double>>& values) {
  add_compared(table, unit, {{std::move(title), values}});
}

void add_times(Table& table, std::string title, const std::vector<SimTime>& times) {
  add_quantities(table, std::move(title), "s",
                 each(times, [](SimTime time) { return std::optional(time.seconds()); }));
}

}  // namespace howard::reports
