// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/manual/manual.h"

#include <errno.h>

#include <filesystem>

#include "base/installed.h"
#include "base/text.h"

namespace howard::cli {

namespace fs = std::filesystem;

namespace {

/// Help texts call the program by this name.
constexpr std::string_view kWrittenName = "run_experiment";
/// A line that is indented this far continues the text of the line before.
constexpr std::size_t kContinuation = 16;

/// Replaces the program's name and keeps the column after it in its place.
void name_program(std::string& line, std::string_view name) {
  for (std::size_t at = 0; (at = line.find(kWrittenName, at)) != std::string::npos;
       at += name.size()) {
    line.replace(at, kWrittenName.size(), name);
    const std::size_t gap = line.find("  ", at);
    if (gap != std::string::npos && name.size() < kWrittenName.size()) {
      line.insert(gap, kWrittenName.size() - name.size(), ' ');
    }
  }
}

std::size_t indent_of(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  return indent == std::string_view::npos ? 0 : indent;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  return last == std::string_view::npos ? "" : text.substr(0, last + 1).substr(indent_of(text));
}

/// Returns where the gap of two or more spaces between the term and the text of a list's line
/// begins.
std::size_t gap_of(const ManualSection& section, std::string_view line) {
  if (section.title == "EXIT STATUS") return std::string_view::npos;
  return line.find("  ", indent_of(line));
}

/// Adds a line of a section, before which there may be a blank line, and after which `next`
/// follows.
void add_line(ManualSection& section, std::string_view line, bool after_blank,
              std::string_view next) {
  std::vector<ManualItem>& items = section.items;
  const std::size_t gap = gap_of(section, line);
  const bool goes_on = indent_of(line) >= kContinuation ||
                       (!after_blank && gap == std::string_view::npos && !items.empty() &&
                        items.back().term.empty() && indent_of(next) < kContinuation);
  if (section.keeps_lines()) {
    items.push_back({.term = "", .text = std::string(line.substr(2))});
  } else if (goes_on && !items.empty()) {
    std::string& text = items.back().text;
    if (!text.empty()) text += ' ';
    text += trimmed(line);
  } else if (gap != std::string_view::npos) {
    items.push_back({.term = std::string(trimmed(line.substr(0, gap))),
                     .text = std::string(trimmed(line.substr(gap)))});
  } else if (indent_of(next) >= kContinuation) {
    items.push_back({.term = std::string(trimmed(line)), .text = ""});
  } else {
    items.push_back({.term = "", .text = std::string(trimmed(line))});
  }
}

}  // namespace

void replace_all(std::string& text, std::string_view old_text, std::string_view new_text) {
  for (std::size_t at = 0; (at = text.find(old_text, at)) != std::string::npos;
       at += new_text.size()) {
    text.replace(at, old_text.size(), new_text);
  }
}

std::string_view program_name() { return program_invocation_short_name; }

ManualPlaces manual_places() {
  const auto data = installed(fs::path(HOWARD_DATA_FOLDER) / "data");
  const auto profiles = installed(fs::path(HOWARD_DATA_FOLDER) / "profiles");
  if (!data || !profiles) {
    return {.data = "data", .profiles = "engines/chip/profiles", .in_source_tree = true};
  }
  return {.data = data->string(), .profiles = profiles->string(), .in_source_tree = false};
}

std::string manual(std::string_view help, const ManualPlaces& places) {
  std::string text;
  for (std::string line : split(help, '\n')) {
    if (!places.in_source_tree) {
      replace_all(line, "build/release/harness/cli/run_experiment", kWrittenName);
      replace_all(line, "./run_experiment", kWrittenName);
    }
    replace_all(line, "data/sonnets.txt", places.data + "/sonnets.txt");
    replace_all(line, "engines/chip/profiles", places.profiles);
    name_program(line, program_name());
    text += line + "\n";
  }
  if (help.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<ManualSection> sections_of(std::string_view help) {
  std::vector<ManualSection> sections(1);
  const std::vector<std::string> lines = split(help, '\n');
  bool after_blank = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty()) {
      after_blank = true;
    } else if (indent_of(line) == 0 && i > 0) {
      sections.push_back({.title = line, .items = {}});
      after_blank = true;
    } else {
      add_line(sections.back(), line, after_blank, i + 1 < lines.size() ? lines[i + 1] : "");
      after_blank = false;
    }
  }
  return sections;
}

}  // namespace howard::cli
