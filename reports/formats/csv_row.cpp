// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/csv_row.h"

#include <cstddef>

namespace howard::reports {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace

void append_csv_row(std::string& text, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ',';
    text += quoted(fields[i]);
  }
  text += '\n';
}

}  // namespace howard::reports
