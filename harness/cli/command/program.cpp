// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command/program.h"

#include <errno.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/installed.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

/// Texts call the program by this name.
constexpr std::string_view kWrittenName = "run_experiment";

void replace_all(std::string& text, std::string_view old_text, std::string_view new_text) {
  for (std::size_t at = 0; (at = text.find(old_text, at)) != std::string::npos;
       at += new_text.size()) {
    text.replace(at, old_text.size(), new_text);
  }
}

/// Says whether a word that is next to `c` is a part of a path or of a longer name.
bool joins(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_' || c == '-';
}

}  // namespace

std::string_view program_name() { return program_invocation_short_name; }

const std::string& typed_name() {
  static const std::string name = [] {
    const char* const launcher = std::getenv("HOWARD_LAUNCHER");
    const bool launched = launcher != nullptr && *launcher != '\0';
    const fs::path path = launched ? launcher : program_invocation_name;
    if (!path.has_parent_path()) return path.string();  // the shell has found it
    std::error_code failure;
    const fs::path here = fs::proximate(path, failure);
    if (failure || *here.begin() == "..") return path.string();
    return "./" + here.string();
  }();
  return name;
}

namespace {

/// Replaces the name of the program, where it is one; `replaces` says so of what follows it.
template <class Replaces>
std::string replaced(std::string_view text, std::string_view name, std::string_view by,
                     Replaces replaces) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = text.find(name, at);
    result += text.substr(at, found - at);
    if (found == std::string_view::npos) break;
    at = found + name.size();
    const bool is_part = (found > 0 && joins(text[found - 1])) ||
                         (at < text.size() && joins(text[at])) ||
                         (at + 1 < text.size() && text[at] == '.' && joins(text[at + 1]));
    result += is_part || !replaces(text.substr(at)) ? name : by;
  }
  return result;
}

}  // namespace

std::string with_typed_name(std::string_view text) {
  const auto is_command = [](std::string_view rest) { return rest.starts_with(' '); };
  std::string result = replaced(text, program_name(), typed_name(), is_command);
  if (program_name() == kWrittenName) return result;
  return replaced(result, kWrittenName, typed_name(), is_command);
}

std::string with_program_name(std::string_view text) {
  return replaced(text, kWrittenName, program_name(), [](std::string_view) { return true; });
}

void complain(std::string_view text) {
  fmt::print(stderr, "{}: {}\n", program_name(), with_program_name(text));
}

ManualPlaces installed_places() {
  return {.data = HOWARD_DATA_FOLDER "/data",
          .profiles = HOWARD_DATA_FOLDER "/profiles",
          .in_source_tree = false};
}

ManualPlaces manual_places() {
  const auto data = installed(fs::path(HOWARD_DATA_FOLDER) / "data");
  const auto profiles = installed(fs::path(HOWARD_DATA_FOLDER) / "profiles");
  if (!data || !profiles) {
    return {.data = "data", .profiles = "engines/chip/profiles", .in_source_tree = true};
  }
  return {.data = data->string(), .profiles = profiles->string(), .in_source_tree = false};
}

std::string in_manual(std::string_view line, const ManualPlaces& places) {
  std::string text(line);
  if (!places.in_source_tree) {
    replace_all(text, "build/release/harness/cli/run_experiment", kWrittenName);
    replace_all(text, "./run_experiment", kWrittenName);
  }
  replace_all(text, "data/sonnets.txt", places.data + "/sonnets.txt");
  replace_all(text, "data/ttml/", places.data + "/ttml/");
  replace_all(text, "engines/chip/profiles", places.profiles);
  return with_program_name(text);
}

}  // namespace howard::cli
