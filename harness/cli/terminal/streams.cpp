// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "harness/cli/command/program.h"

namespace howard::cli {
namespace {

/// Describes a standard stream.
struct Sink {
  int descriptor;
  int failure = 0;  ///< The errno of its first failure; 0 if there was none.
};

Sink output{STDOUT_FILENO};  // NOLINT(*-avoid-non-const-global-variables)
Sink errors{STDERR_FILENO};  // NOLINT(*-avoid-non-const-global-variables)

/// Takes all bytes. After a failure it drops them.
ssize_t take(void* cookie, const char* bytes, std::size_t size) {
  Sink& sink = *static_cast<Sink*>(cookie);
  std::size_t done = 0;
  while (done < size && sink.failure == 0) {
    const ssize_t count = ::write(sink.descriptor, bytes + done, size - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      sink.failure = errno;
    }
  }
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

bool end_output() {
  std::fflush(stdout);
  if (output.failure != 0 && output.failure != EPIPE) {
    complain(
        "cannot write standard output: {}: not all of it was taken; try "
        "another place for it",
        std::strerror(output.failure));
  }
  return output.failure == 0;
}

}  // namespace howard::cli
