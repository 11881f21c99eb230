// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/manual/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/verbs/manual/list.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/verbs.h"

namespace howard::cli {

extern const std::string_view kHelp;  // the build compiles help.md in

std::string help_of(const std::vector<std::string>& names) {
  if (names.empty() || std::ranges::find(names, "all") != names.end()) return manual(kHelp);
  const experiments::Laboratory laboratory;
  std::vector<std::string> texts;
  for (const auto* const experiment : select(laboratory.experiments(), names))
    texts.push_back(description(*experiment));
  return join(texts, "\n");
}

int help(int argc, const char* const* argv) {
  CLI::App app;
  std::vector<std::string> names;
  bool own = false;
  app.set_help_flag();
  app.add_flag("-h,--help", own);
  app.add_option("names", names);
  parse_command_line(app, argc, argv);
  const Verb* const verb = names.size() == 1 ? find_verb(names[0]) : nullptr;
  const bool whole = own || (verb != nullptr && verb->help == &kHelp);
  if (whole || verb == nullptr) {
    fmt::print("{}", help_of(whole ? std::vector<std::string>() : names));
  } else {
    fmt::print("{}", *verb->help);
  }
  return kOk;
}

int version(int argc, const char* const* argv) {
  CLI::App app;
  bool asks = false;
  app.set_help_flag();
  app.add_flag("-h,--help", asks);
  parse_command_line(app, argc, argv);
  fmt::print("{}", asks ? manual(kHelp) : version_text());
  return kOk;
}

}  // namespace howard::cli
