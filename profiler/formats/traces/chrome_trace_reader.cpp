// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/traces/chrome_trace_reader.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_depth.h"
#include "profiler/formats/traces/trace_event_handler.h"

namespace howard::profiler {
namespace {

/// Gives the JSON parser the bytes of a source, one by one.
class Bytes {
 public:
  /// Errors say `attempted` if the text is nested too deep. It must outlive this.
  Bytes(ByteSource& source, std::string_view attempted)
      : source_(source), attempted_(attempted), buffer_(std::size_t{1} << 16) {
    fill();
  }

  bool at_end() const { return at_ == end_; }
  char current() const { return buffer_[at_]; }
  void advance() {
    if (!depth_.take(buffer_[at_])) refuse_json_depth(attempted_);
    if (++at_ == end_) fill();
  }

 private:
  void fill() {
    at_ = 0;
    end_ = source_.read(buffer_);
  }

  ByteSource& source_;
  std::string_view attempted_;
  JsonDepth depth_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit ByteIterator(Bytes* bytes) : bytes_(bytes) {}
  char operator*() const { return bytes_->current(); }
  ByteIterator& operator++() {
    bytes_->advance();
    return *this;
  }
  ByteIterator operator++(int) { return ++*this; }
  /// A null pointer marks the end.
  friend bool operator==(const ByteIterator& a, const ByteIterator& b) {
    return (a.bytes_ == nullptr || a.bytes_->at_end()) ==
           (b.bytes_ == nullptr || b.bytes_->at_end());
  }

 private:
  Bytes* bytes_;
};

}  // namespace

ReadTrace read_chrome_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                             std::vector<std::string>& notes) {
  NameTable names;
  TraceEventHandler handler(names, dropped);
  const std::string attempted = fmt::format("read {} as a Chrome trace", name);
  Bytes bytes(source, attempted);
  nlohmann::json::sax_parse(ByteIterator(&bytes), ByteIterator(nullptr), &handler);
  if (handler.found().spans.empty()) {
    throw Error({.attempted = attempted,
                 .value = handler.failure().value_or("it has no spans"),
                 .accepted = R"({"traceEvents": [{"ph": "X", "ts": 1.5, "dur": 2, ...}, ...]})"});
  }
  if (handler.failure()) notes.push_back("the JSON breaks off: " + *handler.failure());
  return handler.found().assemble(std::move(names), dropped);
}

Log read_chrome_trace(ByteSource& source, std::string_view name) {
  Log log;
  ReadTrace trace = read_chrome_events(source, name, log.dropped, log.notes);
  return log_of(std::move(trace), std::move(log));
}

}  // namespace howard::profiler
