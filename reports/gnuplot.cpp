// SPDX-License-Identifier: Apache-2.0
#include "reports/gnuplot.h"

#include <unistd.h>

#include <gnuplot-iostream.h>
#include <cstdlib>
#include <string_view>

#include "base/text.h"

namespace howard::reports {
namespace {

/// `text` as one word of a shell command.
std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace

std::optional<std::filesystem::path> find_gnuplot() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    const std::filesystem::path program = std::filesystem::path(folder) / "gnuplot";
    std::error_code ignored;
    const bool file = std::filesystem::is_regular_file(program, ignored);
    if (!folder.empty() && file && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

void run_gnuplot(const std::filesystem::path& gnuplot, const std::filesystem::path& folder,
                 const std::string& script) {
  // gnuplot-iostream writes into a shell's pipe and prints a line when the shell fails. This shell
  // succeeds always, reads what a broken gnuplot left unread (else SIGPIPE would end the program),
  // and lets an interrupt pass, so that Ctrl-C does not break the pipe either.
  const std::string command = "trap '' INT; cd " + shell_word(folder.string()) + " && " +
                              shell_word(std::filesystem::absolute(gnuplot).string()) +
                              " >/dev/null 2>&1; while read -r rest; do :; done; exit 0";
  gnuplotio::Gnuplot process(command);
  process << script << std::flush;
}

}  // namespace howard::reports
