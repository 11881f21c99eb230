// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/csv/csv_masks.h"

namespace howard::profiler {

/// Holds a record of a CSV file without the line break behind it.
struct CsvRecord {
  std::span<char> text;    ///< Empty if the record is bad.
  std::uint64_t line = 0;  ///< The line on which it begins, from 1.
  /// Says why it cannot be read; absent if it can.
  std::optional<std::string_view> defect;
  bool quoted = false;   ///< True if one of its fields is quoted.
  bool cut_off = false;  ///< True if the file ends within it, so that nothing ends its line.
};

/// Holds some consecutive records of a file, and the memory of their texts.
struct CsvBlock {
  std::vector<CsvRecord> records;
  std::unique_ptr<char[]> memory;
  CsvMasks masks;  ///< The masks of the memory.
};

/// Reads the records of a CSV file (RFC 4180: quoted fields may hold commas, line breaks and
/// doubled quotes; lines end with LF or CRLF; a byte order mark is skipped). It gives blocks of
/// some hundred records, whose fields can be looked at in any order or at the same time, because
/// finding where records end takes a hundredth of the time that reading their cells does.
///
/// A record that breaks the rules never costs more than its own line. A quote that is not closed
/// within `kLongestRecord` makes its line a bad record, and reading goes on with the next line.
class CsvBlockReader {
 public:
  static constexpr std::size_t kLongestRecord = std::size_t{1} << 20;  ///< Bytes.
  /// `source` must outlive the reader.
  explicit CsvBlockReader(ByteSource& source);

  /// Fills `block` with the next records, at least one and at most `most`. Returns false at the
  /// end. Empty lines are records too.
  bool next(CsvBlock& block, std::size_t most = std::numeric_limits<std::size_t>::max());

 private:
  enum class Scan : std::uint8_t { good, end_of_data, bad };

  Scan split(CsvBlock& block, std::size_t most);
  Scan skip_quoted(char*& at) const;
  void add_record(CsvBlock& block, char* end, bool quoted);
  void add_bad_line(CsvBlock& block, std::string_view defect);
  bool fill(CsvBlock& block, std::size_t limit);

  ByteSource& source_;
  std::vector<char> rest_;  ///< What was read but is in no block yet.
  char* begin_ = nullptr;   ///< The start of the current record, in the block that is being filled.
  char* end_ = nullptr;     ///< The end of what was read.
  bool exhausted_ = false;
  std::uint64_t next_line_ = 1;
};

}  // namespace howard::profiler
