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

#include "profiler/formats/byte_source.h"
#include "profiler/formats/csv_masks.h"

namespace howard::profiler {

/// A record as it stands in a CSV file, without the line break behind it.
struct CsvRecord {
  std::span<char> text;    ///< Empty when it is bad.
  std::uint64_t line = 0;  ///< Where it begins, from 1.
  /// Why it cannot be read; absent when it can.
  std::optional<std::string_view> defect;
  bool quoted = false;   ///< A field of it is.
  bool cut_off = false;  ///< The file ends within it: nothing ends its line.
};

/// Some records of a file that follow each other, and the memory their texts are in.
struct CsvBlock {
  std::vector<CsvRecord> records;
  std::unique_ptr<char[]> memory;
  CsvMasks masks;  ///< Of the memory.
};

/// The records of a CSV file (RFC 4180: quoted fields may hold commas, line breaks and doubled
/// quotes; lines end with LF or CRLF; a byte order mark is skipped) in blocks of some hundred,
/// whose fields can be looked at in any order or at the same time: finding where records end takes
/// a hundredth of the time that reading their cells does.
///
/// A record that breaks the rules never costs more than its own line: a quote that is not closed
/// within `kLongestRecord` makes a bad record of the line it stands in, and reading goes on with
/// the next line.
class CsvBlockReader {
 public:
  static constexpr std::size_t kLongestRecord = std::size_t{1} << 20;  ///< Bytes.
  /// `source` must outlive the reader.
  explicit CsvBlockReader(ByteSource& source);

  /// Fills `block` with the next records, at least one and `most` at most; false at the end. Empty
  /// lines are records too.
  bool next(CsvBlock& block, std::size_t most = std::numeric_limits<std::size_t>::max());

 private:
  enum class Scan : std::uint8_t { good, end_of_data, bad };

  Scan split(CsvBlock& block, std::size_t most);
  Scan skip_quoted(char*& at) const;
  void add_record(CsvBlock& block, char* end, bool quoted);
  void add_bad_line(CsvBlock& block, std::string_view defect);
  bool fill(CsvBlock& block, std::size_t limit);

  ByteSource& source_;
  std::vector<char> rest_;  ///< What was read and is in no block yet.
  char* begin_ = nullptr;   ///< Of the record that is looked at, in the block that is filled.
  char* end_ = nullptr;     ///< Of what was read.
  bool exhausted_ = false;
  std::uint64_t next_line_ = 1;
};

}  // namespace howard::profiler
