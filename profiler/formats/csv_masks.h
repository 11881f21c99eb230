// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace howard::profiler {

/// Where the characters that mean something stand in a text: byte i is bit i % 64 of word i / 64. A
/// log's cells are a few bytes long, and looking at each byte for itself takes ten times as long.
class CsvMasks {
 public:
  static constexpr std::size_t kWordBytes = 64;  ///< Of text, for each word.

  /// Finds those from `begin` to `end`, both in bytes from `text`. The last word's bytes must be
  /// readable as a whole; what is behind `end` gets bits without meaning.
  void find(const char* text, std::size_t begin, std::size_t end);

  const std::uint64_t* commas() const { return commas_.data(); }
  /// Quotes and line breaks.
  const std::uint64_t* marks() const { return marks_.data(); }

 private:
  std::vector<std::uint64_t> commas_, marks_;
};

}  // namespace howard::profiler
