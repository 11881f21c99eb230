// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harness/cli/sharing/launched_processes.h"
#include "harness/cli/terminal/streams.h"

namespace howard::cli {
namespace {

/// Returns whether the variable is set and not empty, which is the NO_COLOR convention.
bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// mpirun gives its first process a terminal of its own, wherever the process's output goes.
bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0 && launched_processes() == 1; }

}  // namespace

std::optional<int> terminal_width(int descriptor) {
  winsize size{};
  if (!is_terminal(descriptor) || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return std::nullopt;
  constexpr int kUsual = 80;  // the width of a terminal that does not know its own
  return size.ws_col > 0 ? size.ws_col : kUsual;
}

bool wants_color(int descriptor, ColorMode mode) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") || is_set("FORCE_COLOR")) return true;
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return is_terminal(descriptor) && !dumb;
}

bool wants_ascii() {
  for (const char* const variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(variable)) continue;
    std::string encoding;  // "en_US.UTF-8", "C.utf8"
    for (const char c : std::string_view(std::getenv(variable))) {
      if (c != '-') encoding += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return encoding.find("utf8") == std::string::npos;
  }
  return true;
}

reports::TerminalStyle terminal_style(int descriptor, ColorMode mode) {
  const bool color = wants_color(descriptor, mode);
  if (color) allow_colors(descriptor);
  return {.width = terminal_width(descriptor), .color = color, .ascii = wants_ascii()};
}

}  // namespace howard::cli
