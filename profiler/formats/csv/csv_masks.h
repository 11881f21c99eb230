// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace howard::profiler {

/// Finds where the characters with a meaning are in a text: byte i is bit i % 64 of word i / 64.
/// The cells of a log are a few bytes long, and looking at each byte by itself takes ten times as
/// long.
class CsvMasks {
 public:
  static constexpr std::size_t kWordBytes = 64;  ///< Bytes of text for each word.

  /// Finds those from `begin` to `end`, both in bytes from `text`. All bytes of the last word must
  /// be readable; those behind `end` get bits without meaning.
  void find(const char* text, std::size_t begin, std::size_t end);

  const std::uint64_t* commas() const { return commas_.data(); }
  /// Returns the quotes and line breaks.
  const std::uint64_t* marks() const { return marks_.data(); }

 private:
  std::vector<std::uint64_t> commas_, marks_;
};

}  // namespace howard::profiler
