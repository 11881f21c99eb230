// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv_reader.h"

#include <algorithm>
#include <cstring>

#include "profiler/formats/csv_separators.h"

namespace howard::profiler {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

char* find(char* begin, char* end, char wanted) {
  return static_cast<char*>(std::memchr(begin, wanted, static_cast<std::size_t>(end - begin)));
}

/// Makes one quote of each two; returns the new end.
char* unescape(char* begin, char* end) {
  char* out = begin;
  for (char* in = begin; in != end; ++in) {
    *out++ = *in;
    if (*in == '"') ++in;
  }
  return out;
}

}  // namespace

CsvReader::CsvReader(ByteSource& source)
    : source_(source),
      buffer_(std::make_unique<char[]>(kLongestRecord + CsvSeparators::kPadding)),
      begin_(buffer_.get()),
      end_(begin_) {
  while (end_ - begin_ < static_cast<std::ptrdiff_t>(kByteOrderMark.size()) && fill()) {
  }
  const std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
  if (text.starts_with(kByteOrderMark)) begin_ += kByteOrderMark.size();
}

bool CsvReader::next() {
  while (true) {
    if (begin_ == end_ && !fill()) return false;
    switch (scan()) {
      case Scan::record:
        take_record();
        if (fields_.size() == 1 && fields_.front().empty()) continue;  // an empty line
        return true;
      case Scan::end_of_data:
        if (fill()) continue;
        defect_ = exhausted_ ? "a quote that is not closed" : "a quote that is not closed in 1 MiB";
        if (!exhausted_ && find(begin_, end_, '\n') == nullptr) defect_ = "a line of over 1 MiB";
        take_bad_line();
        return true;
      case Scan::bad:
        defect_ = "text after a closing quote";
        take_bad_line();
        return true;
    }
  }
}

/// The fields of the record at `begin_`. `end_of_data`: more is needed to tell.
CsvReader::Scan CsvReader::scan() {
  fields_.clear();
  with_doubled_quotes_.clear();
  quoted_ = false;
  CsvSeparators separators(begin_, end_);
  char* at = begin_;
  while (true) {
    if (at != end_ && *at == '"') {
      if (const Scan result = scan_quoted(at); result != Scan::record) return result;
      separators.restart(at + (at != end_ ? 1 : 0));
    } else {
      char* const field = at;
      at = separators.next();
      fields_.emplace_back(field, static_cast<std::size_t>(at - field));
    }
    if (at == end_ && !exhausted_) return Scan::end_of_data;
    if (at == end_ || *at == '\n') break;
    ++at;  // the comma
  }
  std::string_view& last = fields_.back();
  if (last.data() + last.size() == at && last.ends_with('\r')) last.remove_suffix(1);
  cut_off_ = at == end_;
  next_ = cut_off_ ? end_ : at + 1;
  return Scan::record;
}

/// A quoted field; afterwards `at` is at the comma or the line break behind it.
CsvReader::Scan CsvReader::scan_quoted(char*& at) {
  char* const field = at + 1;
  char* quote = at;
  bool doubled = false;
  while (true) {
    quote = find(quote + 1, end_, '"');
    if (quote == nullptr) return Scan::end_of_data;
    if (quote + 1 == end_ && !exhausted_) return Scan::end_of_data;
    if (quote + 1 == end_ || quote[1] != '"') break;
    doubled = true;
    ++quote;
  }
  at = quote + 1;
  if (at != end_ && *at == '\r') {
    if (at + 1 == end_ && !exhausted_) return Scan::end_of_data;
    if (at + 1 == end_ || at[1] == '\n') ++at;
  }
  if (at != end_ && *at != ',' && *at != '\n') return Scan::bad;
  quoted_ = true;
  if (doubled) with_doubled_quotes_.push_back(fields_.size());
  fields_.emplace_back(field, static_cast<std::size_t>(quote - field));
  return Scan::record;
}

void CsvReader::take_record() {
  defect_.reset();
  line_ = next_line_;
  // A line break within a record is within quotes.
  next_line_ += quoted_ ? static_cast<std::uint64_t>(std::count(begin_, next_, '\n')) : 1;
  for (const std::size_t i : with_doubled_quotes_) {
    char* const begin = begin_ + (fields_[i].data() - begin_);
    fields_[i] = {begin,
                  static_cast<std::size_t>(unescape(begin, begin + fields_[i].size()) - begin)};
  }
  begin_ = next_;
}

/// Skips the line at `begin_`, which may be longer than the buffer.
void CsvReader::take_bad_line() {
  fields_.clear();
  line_ = next_line_++;
  cut_off_ = false;
  while (true) {
    if (char* const line_break = find(begin_, end_, '\n')) {
      begin_ = line_break + 1;
      return;
    }
    begin_ = end_;
    if (!fill()) {
      cut_off_ = true;
      return;
    }
  }
}

/// Reads more behind what is there; false when there is no more, or no room.
bool CsvReader::fill() {
  if (exhausted_) return false;
  const auto kept = static_cast<std::size_t>(end_ - begin_);
  if (kept == kLongestRecord) return false;
  std::memmove(buffer_.get(), begin_, kept);
  begin_ = buffer_.get();
  end_ = begin_ + kept;
  const std::size_t size = source_.read({end_, kLongestRecord - kept});
  end_ += size;
  exhausted_ = size == 0;
  // The end of the data is news too: a last line without a line break is complete now.
  return size > 0 || kept > 0;
}

}  // namespace howard::profiler
