// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/csv_masks.h"

#include <immintrin.h>

namespace howard::profiler {
namespace {

/// Fills `words` words of both masks from the beginning of `text`.
using Find = void (*)(const char* text, std::size_t words, std::uint64_t* commas,
                      std::uint64_t* marks);

void find_sse2(const char* text, std::size_t words, std::uint64_t* commas, std::uint64_t* marks) {
  for (std::size_t word = 0; word < words; ++word) {
    std::uint64_t comma = 0;
    std::uint64_t mark = 0;
    for (std::size_t i = 0; i < CsvMasks::kWordBytes; i += 16) {
      const char* const at = text + word * CsvMasks::kWordBytes + i;
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));  // NOLINT
      const auto bits = [](__m128i equal) {
        return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(equal))};
      };
      comma |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(','))) << i;
      mark |= bits(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))))
              << i;
    }
    commas[word] = comma;
    marks[word] = mark;
  }
}

[[gnu::target("avx2")]] void find_avx2(const char* text, std::size_t words, std::uint64_t* commas,
                                       std::uint64_t* marks) {
  for (std::size_t word = 0; word < words; ++word) {
    std::uint64_t comma = 0;
    std::uint64_t mark = 0;
    for (std::size_t i = 0; i < CsvMasks::kWordBytes; i += 32) {
      const char* const at = text + word * CsvMasks::kWordBytes + i;
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));  // NOLINT
      const __m256i is_comma = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(','));
      const __m256i is_mark = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
                                              _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n')));
      comma |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(is_comma))} << i;
      mark |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(is_mark))} << i;
    }
    commas[word] = comma;
    marks[word] = mark;
  }
}

[[gnu::target("avx512bw")]] void find_avx512(const char* text, std::size_t words,
                                             std::uint64_t* commas, std::uint64_t* marks) {
  for (std::size_t word = 0; word < words; ++word) {
    const __m512i bytes = _mm512_loadu_si512(text + word * CsvMasks::kWordBytes);
    commas[word] = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(','));
    marks[word] = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) |
                  _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
  }
}

Find best_find() {
  if (__builtin_cpu_supports("avx512bw")) return find_avx512;
  return __builtin_cpu_supports("avx2") ? find_avx2 : find_sse2;
}

}  // namespace

void CsvMasks::find(const char* text, std::size_t begin, std::size_t end) {
  static const Find kFind = best_find();
  const std::size_t first = begin / kWordBytes;
  const std::size_t last = (end + kWordBytes - 1) / kWordBytes;
  if (commas_.size() < last) {
    commas_.resize(last);
    marks_.resize(last);
  }
  kFind(text + first * kWordBytes, last - first, commas_.data() + first, marks_.data() + first);
}

}  // namespace howard::profiler
