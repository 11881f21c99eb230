// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/terminal_text.h"
#include "harness/cli/command/program.h"
#include "harness/cli/terminal/prose.h"
#include "harness/cli/terminal/terminal.h"

namespace howard::cli {
namespace {

/// Describes a standard stream.
struct Sink {
  int descriptor;
  int failure = 0;  ///< The errno of its first failure; 0 if there was none.
  TerminalText text{TerminalMarks::lines};
  Prose prose{};
};

Sink output{STDOUT_FILENO};  // NOLINT(*-avoid-non-const-global-variables)
Sink errors{STDERR_FILENO};  // NOLINT(*-avoid-non-const-global-variables)

/// Writes all bytes. After a failure it drops them.
void write_bytes(Sink& sink, std::string_view bytes) {
  while (!bytes.empty() && sink.failure == 0) {
    const ssize_t count = ::write(sink.descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      sink.failure = errno;
    }
  }
}

/// Takes all that is printed: no text of a file reaches a terminal in another way.
ssize_t take(void* cookie, const char* bytes, std::size_t size) {
  Sink& sink = *static_cast<Sink*>(cookie);
  std::string text = sink.text.pass({bytes, size});
  if (const auto width = terminal_width(sink.descriptor)) {
    text = sink.prose.pass(text, static_cast<std::size_t>(std::max(*width, 1)));
  }
  write_bytes(sink, text);
  return static_cast<ssize_t>(size);
}

/// Returns a stream into `sink`; null if the system has no memory for it.
std::FILE* stream_into(Sink& sink, int buffering) {
  std::FILE* const stream = ::fopencookie(&sink, "w", {nullptr, take, nullptr, nullptr});
  if (stream != nullptr) std::setvbuf(stream, nullptr, buffering, BUFSIZ);
  return stream;
}

}  // namespace

void prepare_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // It is opened in the direction that is of no use, so that reading and writing fail as on a
    // closed stream. open() takes the lowest free number, which is that of this stream.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::FILE* const out = stream_into(output, ::isatty(STDOUT_FILENO) != 0 ? _IOLBF : _IOFBF);
  std::FILE* const err = stream_into(errors, _IONBF);
  if (out != nullptr) stdout = out;
  if (err != nullptr) stderr = err;
}

void allow_colors(int descriptor) {
  std::fflush(descriptor == STDOUT_FILENO ? stdout : stderr);
  (descriptor == STDOUT_FILENO ? output : errors).text.keep_colors();
}

void drive_terminal(std::string_view marks) { write_bytes(errors, marks); }

bool end_output() {
  std::fflush(stdout);
  for (Sink* const sink : {&output, &errors}) write_bytes(*sink, sink->text.rest());
  if (output.failure != 0 && output.failure != EPIPE) {
    complain(
        "cannot write standard output: {}: not all of it was taken; try "
        "another place for it",
        std::strerror(output.failure));
  }
  return output.failure == 0;
}

}  // namespace howard::cli
