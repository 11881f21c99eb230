// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/formats/csv/csv_blocks.h"

namespace howard::profiler {

/// Holds the fields of a record, without their quotes.
class CsvFields {
 public:
  /// All fields can be looked at.
  CsvFields() = default;
  /// The fields with the numbers `wanted`, in any order, can be looked at. The others are only
  /// counted, which takes half the time.
  explicit CsvFields(std::span<const std::size_t> wanted);

  /// Takes a good record of `block` in place of the one before. It removes quotes from the record's
  /// text, so a record with quotes can be read only once.
  void read(const CsvBlock& block, const CsvRecord& record);

  std::size_t size() const { return size_; }
  /// The result is valid as long as the record's text. `i` must be wanted and below size().
  std::string_view operator[](std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1] + 1;
    return {text_ + begin, ends_[i] - begin};
  }
  /// Returns whether the record is an empty line.
  bool is_empty_line() const { return size_ == 1 && ends_[0] == 0; }

 private:
  void read_quoted(const CsvBlock& block, char* at, char* end);
  char* add_quoted(char* at, char* end, char*& out);
  void add_commas(const CsvBlock& block, const char* begin, const char* end, std::size_t offset);
  void make_room(std::size_t count);
  void add_end(std::size_t end);
  void add_last(std::size_t end);

  bool is_wanted(std::size_t count) const;

  /// For each field, the first field from it on whose end is wanted; empty if all are.
  std::vector<std::size_t> next_wanted_;
  const char* text_ = nullptr;
  /// Offsets within the text; stale for fields that are not wanted.
  std::vector<std::uint32_t> ends_;
  std::size_t size_ = 0;
};

}  // namespace howard::profiler
