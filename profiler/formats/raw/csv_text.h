// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace howard::profiler {

/// Holds the rows of a small CSV that has a header.
struct CsvText {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< Those that have as many cells as the header.

  explicit CsvText(std::string_view text);

  /// Returns a cell; "" if the file has no such column.
  std::string cell(const std::vector<std::string>& row, std::string_view column) const;
};

/// Returns a text as a cell of a CSV, on one line.
std::string csv_cell(std::string_view text);

}  // namespace howard::profiler
