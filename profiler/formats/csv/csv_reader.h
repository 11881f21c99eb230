// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/formats/csv/csv_blocks.h"
#include "profiler/formats/csv/csv_fields.h"

namespace howard::profiler {

/// Gives the records of a CSV file, as `CsvBlockReader` finds them, one after the other.
class CsvReader {
 public:
  /// `source` must outlive the reader.
  explicit CsvReader(ByteSource& source) : blocks_(source) {}

  /// Goes to the next record that is not an empty line. Returns false at the end.
  bool next();

  /// Returns the fields of the current record without their quotes; none if it is bad. They are
  /// valid until next().
  std::span<const std::string_view> fields() const { return fields_; }
  /// Returns why the current record could not be read; absent if it could.
  std::optional<std::string_view> defect() const { return record_.defect; }
  /// Returns the line on which the current record begins, from 1.
  std::uint64_t line() const { return record_.line; }
  /// Returns true if the file ended within the current record, so that nothing ends its line.
  bool is_cut_off() const { return record_.cut_off; }

 private:
  CsvBlockReader blocks_;
  CsvBlock block_;
  std::size_t next_ = 0;  ///< An index into the block's records.
  CsvRecord record_;
  CsvFields split_;
  std::vector<std::string_view> fields_;
};

}  // namespace howard::profiler
