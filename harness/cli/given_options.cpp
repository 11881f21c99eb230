// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/given_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "harness/cli/command_line.h"

namespace howard::cli {

std::vector<std::string> given_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() > 0 && !option->get_lnames().empty()) {
      names.push_back(option->get_lnames().front());
    }
  }
  return names;
}

void require_use(const std::vector<std::string>& given,
                 std::initializer_list<std::string_view> options, bool used,
                 std::string_view purpose) {
  if (used) return;
  for (const std::string_view option : options) {
    if (std::ranges::find(given, option) == given.end()) continue;
    throw UsageError(fmt::format("--{} is for {}", option, purpose));
  }
}

}  // namespace howard::cli
