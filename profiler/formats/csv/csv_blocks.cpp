// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/csv_blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace howard::profiler {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// This much is read at once, so that it and the rows made of it stay in a core's second-level
/// cache.
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

char* find(char* begin, char* end, char wanted) {
  return static_cast<char*>(std::memchr(begin, wanted, static_cast<std::size_t>(end - begin)));
}

/// Goes through the quotes and line breaks of a text.
class Marks {
 public:
  /// Starts with those from `begin` on.
  Marks(const CsvBlock& block, char* begin, char* end)
      : marks_(block.masks.marks()), text_(block.memory.get()), end_(end) {
    restart(begin);
  }

  /// Goes on at `at` and ignores what is before it.
  void restart(const char* at) {
    const auto offset = static_cast<std::size_t>(at - text_);
    word_ = offset / CsvMasks::kWordBytes;
    found_ = at < end_ ? marks_[word_] >> (offset % 64) << (offset % 64) : 0;
  }

  /// Returns the next one, or the end of the text if there is none.
  char* next() {
    while (found_ == 0) {
      if (end_ - text_ <= static_cast<std::ptrdiff_t>((word_ + 1) * CsvMasks::kWordBytes)) {
        return end_;
      }
      found_ = marks_[++word_];
    }
    char* const at = text_ + word_ * CsvMasks::kWordBytes + std::countr_zero(found_);
    found_ &= found_ - 1;
    return std::min(at, end_);
  }

 private:
  const std::uint64_t* marks_;
  char* text_;
  char* end_;
  std::size_t word_ = 0;
  std::uint64_t found_ = 0;
};

}  // namespace

CsvBlockReader::CsvBlockReader(ByteSource& source) : source_(source) {
  rest_.resize(kByteOrderMark.size());
  std::size_t size = 0;
  while (size < rest_.size() && !exhausted_) {
    const std::size_t more = source_.read(std::span(rest_).subspan(size));
    exhausted_ = more == 0;
    size += more;
  }
  rest_.resize(size);
  if (std::string_view(rest_.data(), size) == kByteOrderMark) rest_.clear();
}

bool CsvBlockReader::next(CsvBlock& block, std::size_t most) {
  block.records.clear();
  if (!block.memory) {
    block.memory = std::make_unique_for_overwrite<char[]>(kLongestRecord);
  }
  begin_ = block.memory.get();
  end_ = std::ranges::copy(rest_, begin_).out;
  if (rest_.size() < kBlockBytes) fill(block, kBlockBytes);
  while (begin_ != end_) {
    const Scan scan = split(block, most);
    // An incomplete record begins the next block, which has room for everything that may belong to
    // it.
    if (!block.records.empty()) break;
    if (scan == Scan::bad) {
      add_bad_line(block, "text after a closing quote");
    } else if (!fill(block, kLongestRecord)) {
      const bool one_line = !exhausted_ && find(begin_, end_, '\n') == nullptr;
      add_bad_line(block, exhausted_ ? "a quote that is not closed"
                          : one_line ? "a line of over 1 MiB"
                                     : "a quote that is not closed in 1 MiB");
    }
  }
  rest_.assign(begin_, end_);
  return !block.records.empty();
}

/// Appends the good records from `begin_` on. The result is `good` if there are no more or no more
/// are wanted, and `end_of_data` if more bytes are needed to tell where the next one ends.
CsvBlockReader::Scan CsvBlockReader::split(CsvBlock& block, std::size_t most) {
  char* const text = block.memory.get();
  block.masks.find(text, static_cast<std::size_t>(begin_ - text),
                   static_cast<std::size_t>(end_ - text));
  Marks marks(block, begin_, end_);
  bool quoted = false;
  while (begin_ != end_ && block.records.size() < most) {
    char* at = marks.next();
    if (at == end_ && !exhausted_) return Scan::end_of_data;
    if (at != end_ && *at == '"') {
      // Elsewhere than at the beginning of a field a quote is text.
      if (at != begin_ && at[-1] != ',') continue;
      if (const Scan scan = skip_quoted(at); scan != Scan::good) return scan;
      quoted = true;
      marks.restart(at);
      continue;
    }
    add_record(block, at, quoted);
    quoted = false;
  }
  return Scan::good;
}

/// Goes from an opening quote to the comma, the line break or the end behind the field.
CsvBlockReader::Scan CsvBlockReader::skip_quoted(char*& at) const {
  char* quote = at;
  while (true) {
    quote = find(quote + 1, end_, '"');
    if (quote == nullptr) return Scan::end_of_data;
    if (quote + 1 == end_ && !exhausted_) return Scan::end_of_data;
    if (quote + 1 == end_ || quote[1] != '"') break;
    ++quote;
  }
  at = quote + 1;
  if (at != end_ && *at == '\r') {
    if (at + 1 == end_ && !exhausted_) return Scan::end_of_data;
    if (at + 1 == end_ || at[1] == '\n') ++at;
  }
  return at == end_ || *at == ',' || *at == '\n' ? Scan::good : Scan::bad;
}

void CsvBlockReader::add_record(CsvBlock& block, char* end, bool quoted) {
  // The record is written where it belongs, for the reason that OpsTimelineBuilder::place_kernels()
  // gives.
  CsvRecord& record = block.records.emplace_back();
  record.text = {begin_, end};
  record.line = next_line_;
  record.quoted = quoted;
  record.cut_off = end == end_;
  // A line break within a record lies within quotes.
  next_line_ += 1 + (quoted ? static_cast<std::uint64_t>(std::count(begin_, end, '\n')) : 0);
  begin_ = end == end_ ? end_ : end + 1;
}

/// Skips the line at `begin_`, which may be longer than the block's memory.
void CsvBlockReader::add_bad_line(CsvBlock& block, std::string_view defect) {
  CsvRecord& record = block.records.emplace_back(CsvRecord{.line = next_line_++, .defect = defect});
  while (true) {
    if (char* const line_break = find(begin_, end_, '\n')) {
      begin_ = line_break + 1;
      return;
    }
    begin_ = end_;
    if (!fill(block, kLongestRecord)) {
      record.cut_off = true;
      return;
    }
  }
}

/// Reads more behind what is there, up to `limit` bytes in all. Returns false if there is no more
/// or no room.
bool CsvBlockReader::fill(CsvBlock& block, std::size_t limit) {
  if (exhausted_) return false;
  const auto kept = static_cast<std::size_t>(end_ - begin_);
  if (kept == limit) return false;
  char* const begin = block.memory.get();
  std::memmove(begin, begin_, kept);
  begin_ = begin;
  end_ = begin + kept;
  const std::size_t size = source_.read({end_, limit - kept});
  end_ += size;
  exhausted_ = size == 0;
  // The end of the data is also new information, because a last line without a line break is
  // complete now.
  return size > 0 || kept > 0;
}

}  // namespace howard::profiler
