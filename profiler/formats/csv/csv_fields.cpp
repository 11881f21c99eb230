// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/csv_fields.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace howard::profiler {
namespace {

constexpr std::size_t kNever = ~std::size_t{0};

/// Returns `end` if there is none.
char* find_quote(char* begin, char* end) {
  void* const found = std::memchr(begin, '"', static_cast<std::size_t>(end - begin));
  return found != nullptr ? static_cast<char*>(found) : end;
}

}  // namespace

CsvFields::CsvFields(std::span<const std::size_t> wanted)
    : next_wanted_(wanted.empty() ? 1 : std::ranges::max(wanted) + 1, kNever) {
  next_wanted_[0] = 0;  // for is_empty_line()
  for (const std::size_t field : wanted) {
    next_wanted_[field] = field;
    if (field > 0) next_wanted_[field - 1] = field - 1;  // it begins where that field ends
  }
  for (std::size_t i = next_wanted_.size() - 1; i > 0; --i) {
    if (next_wanted_[i - 1] == kNever) next_wanted_[i - 1] = next_wanted_[i];
  }
}

/// Returns whether the end of any of the next `count` fields is wanted.
bool CsvFields::is_wanted(std::size_t count) const {
  if (next_wanted_.empty()) return true;
  return size_ < next_wanted_.size() && next_wanted_[size_] < size_ + count;
}

void CsvFields::read(const CsvBlock& block, const CsvRecord& record) {
  char* const begin = record.text.data();
  char* const end = begin + record.text.size();
  text_ = begin;
  size_ = 0;
  if (record.quoted) {
    read_quoted(block, begin, end);
  } else {
    add_commas(block, begin, end, 0);
    add_last(record.text.size());
  }
}

/// Moves the fields together over their quotes.
void CsvFields::read_quoted(const CsvBlock& block, char* at, char* const end) {
  char* const begin = at;
  char* out = at;
  while (true) {
    // The plain text goes from here to the next field that begins with a quote, or to the end.
    char* quote = find_quote(at, end);
    while (quote != end && quote != at && quote[-1] != ',') quote = find_quote(quote + 1, end);
    add_commas(block, at, quote, static_cast<std::size_t>(out - begin));
    const auto size = static_cast<std::size_t>(quote - at);
    std::memmove(out, at, size);
    out += size;
    if (quote == end) return add_last(static_cast<std::size_t>(out - begin));
    at = add_quoted(quote + 1, end, out);
    add_end(static_cast<std::size_t>(out - begin));
    if (at == end) return;
    ++at;  // skips the comma
    ++out;
  }
}

/// Copies the rest of a quoted field to `out`, with one quote for each two. Returns where its comma
/// or the record's end is.
char* CsvFields::add_quoted(char* at, char* const end, char*& out) {
  while (true) {
    char* const quote = find_quote(at, end);
    out = std::copy(at, quote, out);
    at = quote + 1;
    if (at == end || *at != '"') break;
    *out++ = *at++;
  }
  return at != end && *at == '\r' ? at + 1 : at;
}

/// Adds the fields that end with a comma. `offset` is the place of the text at `begin` within the
/// record's text.
[[gnu::target("popcnt")]] void CsvFields::add_commas(const CsvBlock& block, const char* begin,
                                                     const char* end, std::size_t offset) {
  constexpr std::size_t kBits = CsvMasks::kWordBytes;
  const auto first = static_cast<std::size_t>(begin - block.memory.get());
  const auto last = static_cast<std::size_t>(end - block.memory.get());
  for (std::size_t word = first / kBits; word * kBits < last; ++word) {
    const std::size_t at = word * kBits;
    std::uint64_t commas = block.masks.commas()[word];
    if (at < first) commas = commas >> (first - at) << (first - at);
    if (last - at < kBits) commas &= (std::uint64_t{1} << (last - at)) - 1;
    const auto count = static_cast<std::size_t>(std::popcount(commas));
    if (!is_wanted(count)) {
      size_ += count;
      continue;
    }
    make_room(kBits);
    // This takes eight at a time, whether there are as many or not, because a loop that ends after
    // the last one would be mispredicted at each word.
    const auto base = static_cast<std::uint32_t>(at + offset - first);
    std::uint32_t* out = ends_.data() + size_;
    size_ += count;
    while (commas != 0) {
      for (int i = 0; i < 8; ++i) {
        constexpr std::uint64_t kNone = std::uint64_t{1} << 63;
        *out++ = base + static_cast<std::uint32_t>(std::countr_zero(commas | kNone));
        commas &= commas - 1;
      }
    }
  }
}

void CsvFields::make_room(std::size_t count) {
  if (ends_.size() < size_ + count) ends_.resize(2 * size_ + count);
}

void CsvFields::add_end(std::size_t end) {
  make_room(1);
  ends_[size_++] = static_cast<std::uint32_t>(end);
}

/// Adds the field that ends the record without a quote.
void CsvFields::add_last(std::size_t end) {
  make_room(1);
  const std::size_t begin = size_ == 0 ? 0 : ends_[size_ - 1] + 1;
  add_end(end > begin && text_[end - 1] == '\r' ? end - 1 : end);
}

}  // namespace howard::profiler
