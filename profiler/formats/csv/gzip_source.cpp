// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/gzip_source.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.h"

namespace howard::profiler {

bool is_gzip(std::string_view beginning) { return beginning.starts_with("\x1f\x8b"); }

struct GzipSource::State {
  ByteSource& compressed;
  std::string name;
  z_stream stream{};
  std::array<char, 64 * 1024> input{};
  bool begun = false;  ///< Within a member.
  bool at_end = false;

  [[noreturn]] void fail(std::string value) const {
    throw Error({.attempted = "uncompress " + name,
                 .value = std::move(value),
                 .accepted = "a whole gzip file"});
  }
  /// Returns false at the end of the file.
  bool fill() {
    if (stream.avail_in > 0) return true;
    const std::size_t size = compressed.read(input);
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(size);
    return size > 0;
  }
};

GzipSource::GzipSource(ByteSource& compressed, std::string name)
    : state_(std::make_unique<State>(State{.compressed = compressed, .name = std::move(name)})) {
  constexpr int kGzip = 16 + MAX_WBITS;
  if (::inflateInit2(&state_->stream, kGzip) != Z_OK) state_->fail("zlib does not begin");
}

GzipSource::~GzipSource() { ::inflateEnd(&state_->stream); }

std::size_t GzipSource::read(std::span<char> buffer) {
  State& state = *state_;
  const std::size_t room = std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max());
  state.stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
  state.stream.avail_out = static_cast<uInt>(room);
  while (state.stream.avail_out == room && !state.at_end) {
    if (!state.fill()) {
      if (state.begun) state.fail("it ends within compressed data");
      state.at_end = true;
      break;
    }
    state.begun = true;
    const int result = ::inflate(&state.stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      state.begun = false;
      ::inflateReset(&state.stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      state.fail(state.stream.msg != nullptr ? state.stream.msg : "it is damaged");
    }
  }
  return room - state.stream.avail_out;
}

}  // namespace howard::profiler
