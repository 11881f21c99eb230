// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/formats/byte_source.h"

namespace howard::profiler {

/// The records of a CSV file (RFC 4180: quoted fields may hold commas, line breaks and doubled
/// quotes; lines end with LF or CRLF; a byte order mark is skipped), one after the other, in the
/// memory of one buffer whatever the size of the file.
///
/// A record that breaks the rules never costs more than its own line: a quote that is not closed
/// within `kLongestRecord` makes a bad record of the line it stands in, and reading goes on with
/// the next line.
class CsvReader {
 public:
  static constexpr std::size_t kLongestRecord = std::size_t{1} << 20;  ///< Bytes.

  /// `source` must outlive the reader.
  explicit CsvReader(ByteSource& source);

  /// Goes to the next record that is not an empty line; false at the end.
  bool next();

  /// The fields of the current record without their quotes; none when it is bad. Valid until
  /// next().
  std::span<const std::string_view> fields() const { return fields_; }
  /// Why the current record could not be read; absent when it could.
  std::optional<std::string_view> defect() const { return defect_; }
  /// Where the current record begins, from 1.
  std::uint64_t line() const { return line_; }
  /// True when the file ended within the current record: nothing ends its line.
  bool is_cut_off() const { return cut_off_; }

 private:
  enum class Scan : std::uint8_t { record, end_of_data, bad };

  Scan scan();
  Scan scan_quoted(char*& at);
  void take_record();
  void take_bad_line();
  bool fill();

  ByteSource& source_;
  std::unique_ptr<char[]> buffer_;  ///< kLongestRecord bytes, and padding.
  char* begin_;                     ///< Of the record that is looked at.
  char* end_;                       ///< Of what was read.
  char* next_ = nullptr;            ///< Where the record after the scanned one begins.
  bool exhausted_ = false;
  std::uint64_t next_line_ = 1;
  std::vector<std::size_t> with_doubled_quotes_;  ///< Of the scanned fields, by index.
  bool quoted_ = false;                           ///< One of them was quoted.

  std::vector<std::string_view> fields_;
  std::optional<std::string_view> defect_;
  std::uint64_t line_ = 0;
  bool cut_off_ = false;
};

}  // namespace howard::profiler
