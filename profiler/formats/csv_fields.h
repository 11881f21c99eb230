// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/formats/csv_blocks.h"

namespace howard::profiler {

/// The fields of a record, without their quotes.
class CsvFields {
 public:
  /// All of them can be looked at.
  CsvFields() = default;
  /// Those with the numbers `wanted`, in any order, can be looked at; the others are counted, which
  /// takes half the time.
  explicit CsvFields(std::span<const std::size_t> wanted);

  /// Takes a good record of `block` in place of the one before. Quotes are removed from its text,
  /// so that a record with quotes can be read once.
  void read(const CsvBlock& block, const CsvRecord& record);

  std::size_t size() const { return size_; }
  /// Valid as long as the record's text; `i` is wanted and below size().
  std::string_view operator[](std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1] + 1;
    return {text_ + begin, ends_[i] - begin};
  }
  /// The record is an empty line.
  bool is_empty_line() const { return size_ == 1 && ends_[0] == 0; }

 private:
  void read_quoted(const CsvBlock& block, char* at, char* end);
  char* add_quoted(char* at, char* end, char*& out);
  void add_commas(const CsvBlock& block, const char* begin, const char* end, std::size_t offset);
  void make_room(std::size_t count);
  void add_end(std::size_t end);
  void add_last(std::size_t end);

  bool is_wanted(std::size_t count) const;

  /// By field, the first field from it on whose end is wanted; none for all.
  std::vector<std::size_t> next_wanted_;
  const char* text_ = nullptr;
  std::vector<std::uint32_t> ends_;  ///< Within the text; old for those that are not wanted.
  std::size_t size_ = 0;
};

}  // namespace howard::profiler
