// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/manual/man_page.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/build_info.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/verbs.h"

namespace howard::cli {

extern const std::string_view kHelp;  // the build compiles help.md in

namespace {

/// These are the places below the folder to which the program was installed.
const ManualPlaces kInstalledPlaces{.data = HOWARD_DATA_FOLDER "/data",
                                    .profiles = HOWARD_DATA_FOLDER "/profiles",
                                    .in_source_tree = false};

/// Returns `text` as roff reads it, so that no character of it is a command.
std::string roff(std::string_view text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::string roff_of(const ManualSection& section) {
  std::string text;
  for (const ManualItem& item : section.items) {
    if (!item.term.empty()) {
      text += fmt::format(".TP\n\\fB{}\\fR\n", roff(item.term));
    } else if (!section.keeps_lines()) {
      text += ".PP\n";
    }
    if (!item.text.empty()) text += roff(item.text) + "\n";
  }
  return section.keeps_lines() ? ".nf\n" + text + ".fi\n" : text;
}

/// Returns a help text under headings of the kind `heading`: .SH, .SS.
std::string roff_of(std::string_view help, std::string_view heading) {
  std::string text;
  for (const ManualSection& section : sections_of(manual(help, kInstalledPlaces))) {
    if (section.title.empty()) {
      const auto& items = section.items;
      if (heading == ".SS" && !items.empty()) text += ".PP\n" + roff(items.front().text) + "\n";
      continue;
    }
    text += fmt::format("{} {}\n{}", heading, roff(section.title), roff_of(section));
  }
  return text;
}

std::string roff_of(const harness::Experiment& experiment) {
  std::string text =
      fmt::format(".TP\n\\fB{}\\fR\n{}\n.RS\n", experiment.name(), roff(experiment.question()));
  for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
    for (const harness::Axis& axis : experiment.axes(backend)) {
      text += fmt::format(".TP\n\\fI{}\\fR ({})\n{}; default {}\n", roff(axis.name),
                          name_of(backend), roff(axis.meaning),
                          axis.values.empty() ? "none: not set" : roff(join(axis.values, ",")));
    }
  }
  return text + ".RE\n";
}

std::string man_page() {
  const std::string name(program_name());
  const auto title = sections_of(manual(kHelp)).front().items.front().text;
  std::string text = fmt::format(".TH {} 1 \"\" \"howard {}\" \"User Commands\"\n.SH NAME\n{}\n",
                                 roff(name), harness::kVersion, roff(title));
  text += roff_of(kHelp, ".SH");
  for (const Verb& verb : verbs()) {
    if (verb.help != &kHelp) {
      text += fmt::format(".SH {} {}\n", name, verb.name) + roff_of(*verb.help, ".SS");
    }
  }
  text += ".SH EXPERIMENTS\n";
  const experiments::Laboratory laboratory;
  for (const auto& experiment : laboratory.experiments()) text += roff_of(*experiment);
  return text;
}

}  // namespace

int man(int argc, const char* const* argv) {
  CLI::App app;
  app.set_help_flag();
  bool help = false;
  app.add_flag("-h,--help", help);
  parse_command_line(app, argc, argv);
  fmt::print("{}", help ? manual(kHelp) : man_page());
  return kOk;
}

}  // namespace howard::cli
