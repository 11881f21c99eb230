// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal/prose.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "harness/cli/command/program.h"
#include "reports/tables/cell_text.h"

namespace howard::cli {
namespace {

/// Returns where a line has a command, which is to be copied as one line; its size if it has none.
std::size_t command_in(std::string_view line, const std::string& program) {
  std::size_t found = line.size();
  for (const std::string& word : {program + " ", std::string("-a ")}) {
    for (std::size_t at = 0; (at = line.find(word, at)) < found; ++at) {
      if (at == 0 || line[at - 1] == ' ') found = at;
    }
  }
  return found;
}

/// Returns a term with its text, which is broken below itself. A row of a table stays in one line.
std::string with_hanging_text(const std::string& line, std::size_t gap, std::size_t width) {
  const std::size_t text = std::min(line.find_first_not_of(' ', gap), line.size());
  const std::size_t column = reports::display_width(line.substr(0, text));
  constexpr std::size_t kNarrowest = 30;
  const bool is_row = line.find("  ", text) != std::string::npos;
  if (is_row || column + kNarrowest > width) return line;
  std::string lines = line.substr(0, text);
  bool is_first = true;
  for (const std::string& part : split(reports::wrapped(line.substr(text), width - column), '\n')) {
    // Lines after the first begin with two blanks.
    if (!is_first) lines += "\n" + std::string(column - 2, ' ');
    lines += part;
    is_first = false;
  }
  return lines;
}

std::string fitted(const std::string& given, std::size_t width) {
  const std::string line = with_typed_name(given);
  if (reports::display_width(line) <= width) return line;
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (line.find('\x1b') != std::string::npos) return line;
  if (const std::size_t gap = line.find("  ", indent); gap != std::string::npos) {
    return with_hanging_text(line, gap, width);
  }
  const std::size_t command = command_in(line, typed_name());
  std::vector<std::string> lines;
  if (command > indent) {
    const std::string_view prose(line.data() + indent, command - indent);
    lines = split(reports::wrapped(prose, width - std::min(width, indent)), '\n');
  }
  if (command < line.size()) {
    const std::string rest = line.substr(command);
    const bool joins =
        !lines.empty() &&
        indent + reports::display_width(lines.back()) + reports::display_width(rest) <= width;
    if (joins) {
      lines.back() += rest;
    } else {
      lines.push_back(lines.empty() ? rest : "  " + rest);
    }
  }
  std::string text;
  for (std::string& one : lines) {
    one.erase(one.find_last_not_of(' ') + 1);
    text += (text.empty() ? "" : "\n") + std::string(indent, ' ') + one;
  }
  return text;
}

}  // namespace

std::string Prose::pass(std::string_view piece, std::size_t width) {
  std::string text;
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string line(piece.substr(0, end));
    const bool is_whole = !in_line_ && end != std::string_view::npos;
    text += is_whole ? fitted(line, width) : line;
    in_line_ = end == std::string_view::npos;
    if (in_line_) break;
    text += '\n';
    piece.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace howard::cli
