// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace howard {

/// Appends records to a CSV text (RFC 4180, lines ended by LF). A field with a comma, a quote or a
/// line break is quoted; the others are written as they are.
class CsvWriter {
 public:
  void add(std::string_view field);
  void add(std::int64_t number);
  void add(std::uint64_t number);
  void add(int number) { add(std::int64_t{number}); }
  void skip(std::size_t fields = 1);  ///< Writes empty fields.
  void end_record();
  /// Adds the fields and ends the record.
  void add_record(const std::vector<std::string>& fields);

  /// Returns what has been written since the last call.
  std::string take() { return std::exchange(text_, {}); }

 private:
  void begin_field();

  std::string text_;
  bool in_record_ = false;
};

}  // namespace howard
