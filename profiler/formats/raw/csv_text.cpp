// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/raw/csv_text.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "profiler/formats/csv/csv_reader.h"

namespace howard::profiler {

CsvText::CsvText(std::string_view text) {
  TextBytes source(text);
  CsvReader reader(source);
  while (reader.next()) {
    std::vector<std::string> cells;
    for (const std::string_view cell : reader.fields()) cells.emplace_back(trimmed(cell));
    if (header.empty()) {
      header = std::move(cells);
    } else if (cells.size() == header.size()) {
      rows.push_back(std::move(cells));
    }
  }
}

std::string CsvText::cell(const std::vector<std::string>& row, std::string_view column) const {
  const auto found = std::ranges::find(header, column);
  return found != header.end() ? row[static_cast<std::size_t>(found - header.begin())] : "";
}

std::string csv_cell(std::string_view text) {
  std::string cell = "\"";
  for (const char c : text) {
    cell += c == '\n' ? ' ' : c;
    if (c == '"') cell += '"';
  }
  return cell + '"';
}

}  // namespace howard::profiler
