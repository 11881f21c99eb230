// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace howard::profiler {

/// Goes through the commas and line breaks of a text, 64 bytes at a time: a log's cells are a few
/// bytes long, and looking at each byte for itself takes three times as long.
class CsvSeparators {
 public:
  /// Bytes that must be readable behind the text; what they are has no influence.
  static constexpr std::size_t kPadding = 64;

  CsvSeparators(char* begin, char* end) : end_(end) { restart(begin); }

  /// Goes on at `at`: what is before it is not looked at.
  void restart(char* at) {
    block_ = at;
    found_ = at < end_ ? separators_of(at) : 0;
  }

  /// The next one; the end of the text when there is none.
  char* next() {
    while (found_ == 0) {
      if (end_ - block_ <= kBlock) return end_;
      block_ += kBlock;
      found_ = separators_of(block_);
    }
    char* const at = block_ + std::countr_zero(found_);
    found_ &= found_ - 1;
    return at < end_ ? at : end_;
  }

 private:
  static constexpr std::ptrdiff_t kBlock = 64;

  /// Bit i is set when byte i is a separator.
  static std::uint64_t separators_of(const char* block) {
    std::uint64_t found = 0;
#if defined(__SSE2__)
    const __m128i comma = _mm_set1_epi8(',');
    const __m128i line_break = _mm_set1_epi8('\n');
    for (int i = 0; i < 4; ++i) {
      const __m128i bytes =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));  // NOLINT: its way
      const __m128i equal =
          _mm_or_si128(_mm_cmpeq_epi8(bytes, comma), _mm_cmpeq_epi8(bytes, line_break));
      const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
      found |= std::uint64_t{bits} << (16 * i);
    }
#else
    for (int i = 0; i < 64; ++i) {
      const bool separates = block[i] == ',' || block[i] == '\n';
      found |= std::uint64_t{separates} << i;
    }
#endif
    return found;
  }

  char* end_;
  char* block_ = nullptr;
  std::uint64_t found_ = 0;
};

}  // namespace howard::profiler
