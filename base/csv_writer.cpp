// SPDX-License-Identifier: Apache-2.0
#include "base/csv_writer.h"

#include <fmt/format.h>

namespace howard {

void CsvWriter::begin_field() {
  if (in_record_) text_ += ',';
  in_record_ = true;
}

void CsvWriter::add(std::string_view field) {
  begin_field();
  if (field.find_first_of(",\"\r\n") == field.npos) {
    text_ += field;
    return;
  }
  text_ += '"';
  for (const char c : field) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
}

void CsvWriter::add(std::int64_t number) { add(std::string_view(fmt::format_int(number).c_str())); }

void CsvWriter::add(std::uint64_t number) {
  add(std::string_view(fmt::format_int(number).c_str()));
}

void CsvWriter::skip(std::size_t fields) {
  for (std::size_t i = 0; i < fields; ++i) begin_field();
}

void CsvWriter::add_record(const std::vector<std::string>& fields) {
  for (const std::string& field : fields) add(field);
  end_record();
}

void CsvWriter::end_record() {
  text_ += '\n';
  in_record_ = false;
}

}  // namespace howard
