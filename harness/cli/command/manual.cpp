// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command/manual.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/build_info.h"
#include "harness/cli/terminal/terminal.h"
#include "reports/published/reference.h"
#include "reports/tables/cell_text.h"

namespace howard::cli {
namespace {

using harness::Backend;
using harness::Experiment;

/// Returns the width of help: that of the terminal, but no more than can be read.
std::size_t help_width() {
  constexpr int kNarrowest = 40;
  constexpr int kWidest = 100;
  return static_cast<std::size_t>(
      std::clamp(terminal_width(STDOUT_FILENO).value_or(kWidest), kNarrowest, kWidest));
}

constexpr std::size_t kOptionColumn = 26;
constexpr std::array kBothBackends{Backend::emulated, Backend::host};
constexpr std::string_view kOptions = "OPTIONS";

/// Returns "--axis AXIS=V1,V2".
std::string term_of(const Option& option) {
  return std::string(option.names) + (option.takes_word() ? " " : "") + std::string(option.value);
}

ManualSection section_of(std::string_view title, const std::vector<ManualItem>& items,
                         const OptionList& options, const ManualPlaces& places) {
  ManualSection section{.title = std::string(title), .lines = {}};
  for (const ManualItem& item : items) {
    section.lines.push_back({std::string(item.term), in_manual(item.text, places)});
  }
  for (const Option& option : options) {
    if (option.group != title || option.names.empty()) continue;
    section.lines.push_back({term_of(option), in_manual(option.text, places)});
  }
  return section;
}

ManualSection usage_of(const Command& command, const ManualPlaces& places) {
  ManualSection section{.title = "USAGE", .lines = {}};
  for (const std::string_view form : command.usage) {
    std::string line(program_name());
    for (const std::string_view word : {command.name, form}) {
      if (!word.empty()) line += fmt::format(" {}", word);
    }
    // What a form does stands behind three blanks.
    const std::size_t meaning = line.find("   ");
    if (meaning == std::string::npos) {
      section.lines.push_back({"", std::move(line)});
    } else {
      section.lines.push_back(
          {line.substr(0, meaning), std::string(trimmed(line.substr(meaning)))});
    }
  }
  for (const ManualItem& item : command.text) {
    section.lines.push_back({std::string(item.term), in_manual(item.text, places)});
  }
  return section;
}

ManualSection commands_section() {
  ManualSection section{.title = "COMMANDS, each with a --help of its own", .lines = {}};
  for (const Command* const command : commands()) {
    section.lines.push_back({std::string(command->name), std::string(command->summary)});
  }
  return section;
}

std::string indented(std::string_view text) {
  return "  " + reports::wrapped(text, help_width() - 2) + "\n";
}

/// Returns the column of the texts: options have theirs, other lists one beside their terms.
std::size_t column_of(const ManualSection& section) {
  std::size_t longest = 0;
  for (const ManualLine& line : section.lines) {
    if (line.term.starts_with('-')) return kOptionColumn;
    longest = std::max(longest, line.term.size());
  }
  return section.title == "USAGE" ? longest + 4 : std::min(longest + 4, kOptionColumn);
}

std::string text_of(const ManualSection& section, std::size_t forms) {
  std::string text;
  for (std::size_t i = 0; i < section.lines.size(); ++i) {
    const auto& [term, words] = section.lines[i];
    if (!term.empty()) {
      text += described(term, words, column_of(section), help_width());
    } else if (section.keeps_lines || i < forms) {
      for (const std::string& line : split(words, '\n')) text += "  " + line + "\n";
    } else {
      text += (i == 0 ? "" : "\n") + indented(words);
    }
  }
  return text;
}

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

/// Returns the manual of a command under headings of the kind `heading`: .SH, .SS.
std::string roff_of(const Command& command, std::string_view heading) {
  std::string text;
  for (const ManualSection& section : manual_of(command, installed_places())) {
    if (section.title.empty()) {
      if (heading == ".SS") text += ".PP\n" + roff(section.lines.front().text) + "\n";
      continue;
    }
    text +=
        fmt::format("{} {}\n{}", heading, roff(section.title), section.keeps_lines ? ".nf\n" : "");
    for (const auto& [term, words] : section.lines) {
      if (!term.empty()) {
        text += fmt::format(".TP\n\\fB{}\\fR\n", roff(term));
      } else if (!section.keeps_lines) {
        text += ".PP\n";
      }
      for (const std::string& line : split(words, '\n')) text += roff(line) + "\n";
    }
    if (section.keeps_lines) text += ".fi\n";
  }
  return text;
}

std::string roff_of(const Experiment& experiment) {
  std::string text =
      fmt::format(".TP\n\\fB{}\\fR\n{}\n.RS\n", experiment.name(), roff(experiment.question()));
  for (const Backend backend : kBothBackends) {
    for (const harness::Axis& axis : experiment.axes(backend)) {
      text += fmt::format(".TP\n\\fI{}\\fR ({})\n{}; default {}\n", roff(axis.name),
                          name_of(backend), roff(axis.meaning),
                          axis.values.empty() ? "none: not set" : roff(join(axis.values, ",")));
    }
  }
  return with_program_name(text + ".RE\n");
}

std::string axes_text(const Experiment& experiment, Backend backend) {
  constexpr std::size_t kColumn = 14;
  const std::vector<harness::Axis> axes = experiment.axes(backend);
  if (axes.empty()) return "";
  std::string text = fmt::format("\nAXES with --backend {}\n", name_of(backend));
  for (const harness::Axis& axis : axes) {
    const std::string values = axis.values.empty() ? "not set" : join(axis.values, ", ");
    text += described(axis.name, axis.meaning, kColumn, help_width());
    text += described("", "default: " + values, kColumn, help_width());
  }
  return text;
}

std::string timing_text(const Experiment& experiment) {
  const harness::VirtualTiming timing = experiment.timing();
  if (timing.iterations == 0) return "  Nothing is timed: each point is worked out once.\n";
  return indented(
      fmt::format("On the emulated chip {} iterations warm up and {} are timed; `time` is the mean "
                  "of one.",
                  timing.warmup, timing.iterations));
}

std::string published_text(const Experiment& experiment) {
  std::string text;
  for (const reports::ReferenceTable& table : reports::reference_tables(experiment.name())) {
    text += indented(fmt::format("{} row{}: {}", table.rows.size(),
                                 table.rows.size() == 1 ? "" : "s", table.title));
  }
  return text.empty() ? text : "\nPUBLISHED FIGURES beside the emulated ones\n" + text;
}

std::string examples_text(const Experiment& experiment) {
  std::string text = "\nEXAMPLES\n";
  for (const Backend backend : kBothBackends) {
    const std::vector<harness::Axis> axes = experiment.axes(backend);
    if (axes.empty()) continue;
    const auto set =
        std::ranges::find_if(axes, [](const harness::Axis& axis) { return !axis.values.empty(); });
    text += fmt::format("  run_experiment {} --backend {}", experiment.name(), name_of(backend));
    if (set != axes.end()) text += " -a " + shell_word(set->name + "=" + set->values.front());
    text += "\n";
  }
  const bool timed = experiment.timing().iterations > 0;
  if (timed && !experiment.axes(Backend::emulated).empty()) {
    text += fmt::format("  run_experiment explain {}\n", experiment.name());
  }
  return text;
}

}  // namespace

std::string described(std::string_view term, std::string_view text, std::size_t column,
                      std::size_t width) {
  std::string lines = fmt::format("  {:<{}}", term, column - 2);
  const std::string gap(column - 2, ' ');  // each line after the first has two blanks already
  if (term.size() + 3 > column) lines = fmt::format("  {}\n  {}", term, gap);
  bool first = true;
  for (const std::string& line : split(reports::wrapped(text, width - column), '\n')) {
    if (!first) lines += "\n" + gap;
    first = false;
    lines += line;
  }
  return lines + "\n";
}

std::vector<ManualSection> manual_of(const Command& command, const ManualPlaces& places) {
  const bool is_main = command.name.empty();
  const OptionList options = options_of(command);
  std::vector<ManualSection> sections;
  sections.push_back({.title = "",
                      .lines = {{"", fmt::format("{}{}{} - {}", program_name(), is_main ? "" : " ",
                                                 command.name, command.summary)}}});
  sections.push_back(usage_of(command, places));
  if (is_main) sections.push_back(commands_section());
  if (!command.examples.empty()) {
    ManualSection examples{.title = "EXAMPLES", .lines = {}, .keeps_lines = true};
    for (const std::string_view line : command.examples) {
      examples.lines.push_back({"", in_manual(line, places)});
    }
    sections.push_back(std::move(examples));
  }
  for (const auto& [title, items] : command.parts) {
    sections.push_back(section_of(title, items, options, places));
  }
  sections.push_back(section_of(kOptions, {}, options, places));
  sections.push_back({.title = "EXIT STATUS", .lines = {{"", in_manual(command.status, places)}}});
  return sections;
}

std::string help_of(const Command& command) {
  std::string text;
  for (const ManualSection& section : manual_of(command, manual_places())) {
    if (section.title.empty()) {
      text += section.lines.front().text + "\n";
    } else {
      const std::size_t forms = section.title == "USAGE" ? command.usage.size() : 0;
      text += "\n" + section.title + "\n" + text_of(section, forms);
    }
  }
  return text;
}

namespace {

/// Returns terms with their texts, each in one line.
std::string in_lines(const std::vector<ManualLine>& lines, std::size_t column) {
  std::string text;
  for (const auto& [term, words] : lines) {
    const std::size_t used = std::max(column, term.size() + 4);
    const std::size_t room = help_width() - std::min(help_width(), used);
    text += fmt::format("  {:<{}}{}\n", term, used - 2, reports::shortened(words, room, true));
  }
  return text;
}

/// Returns terms alone, if there are too many for a line each.
std::string in_a_paragraph(const std::vector<ManualLine>& lines) {
  std::vector<std::string> terms;
  for (const ManualLine& line : lines) terms.push_back(line.term);
  return indented(join(terms, "; "));
}

}  // namespace

std::string short_help_of(const Command& command) {
  constexpr std::size_t kMostLines = 18;
  const ManualPlaces places = manual_places();
  const std::vector<ManualSection> sections = manual_of(command, places);
  std::string text = reports::wrapped(sections.front().lines.front().text, help_width()) + "\n";
  ManualSection usage = usage_of(command, places);
  usage.lines.resize(command.usage.size());
  text += "\nUSAGE\n" + text_of(usage, command.usage.size());
  if (command.name.empty()) {
    const ManualSection all = commands_section();
    text += "\n" + all.title + "\n" + in_lines(all.lines, column_of(all));
  }
  std::vector<ManualLine> options;
  for (const Option& option : options_of(command)) {
    if (option.names.empty()) continue;
    options.push_back({term_of(option), in_manual(option.text, places)});
  }
  text += "\nOPTIONS\n";
  const bool have_lines = options.size() <= kMostLines && !command.name.empty();
  text += have_lines ? in_lines(options, kOptionColumn) : in_a_paragraph(options);
  const std::string name = command.name.empty() ? "" : fmt::format(" {}", command.name);
  return text +
         fmt::format("\n{}{} --help says what each does, with examples.\n", program_name(), name);
}

std::string short_description(const Experiment& experiment) {
  std::string text = reports::wrapped(
      fmt::format("{} - {}", experiment.name(), experiment.question()), help_width());
  std::vector<ManualLine> axes;
  for (const Backend backend : kBothBackends) {
    for (const harness::Axis& axis : experiment.axes(backend)) {
      if (std::ranges::find(axes, axis.name, &ManualLine::term) != axes.end()) continue;
      const std::string values = axis.values.empty() ? "" : " (" + join(axis.values, ",") + ")";
      axes.push_back({axis.name, axis.meaning + values});
    }
  }
  constexpr std::size_t kColumn = 14;
  return text + "\n\nAXES, as -a AXIS=VALUE\n" + in_lines(axes, kColumn) +
         with_program_name(
             fmt::format("\nrun_experiment {} --help says more.\n", experiment.name()));
}

std::string description(const Experiment& experiment) {
  std::string text = reports::wrapped(
      fmt::format("{} - {}", experiment.name(), experiment.question()), help_width());
  text += fmt::format("\n\nUSAGE\n  run_experiment {} [-a AXIS=V1,V2]... [OPTIONS]\n",
                      experiment.name());
  text += timing_text(experiment);
  for (const Backend backend : kBothBackends) text += axes_text(experiment, backend);
  text += published_text(experiment) + examples_text(experiment);
  return with_program_name(text + "\nrun_experiment --help has the options of all experiments.\n");
}

std::string man_page() {
  const std::string name(program_name());
  std::string text =
      fmt::format(".TH {} 1 \"\" \"howard {}\" \"User Commands\"\n.SH NAME\n{}\n", roff(name),
                  harness::kVersion, roff(fmt::format("{} - {}", name, kRunCommand.summary)));
  text += roff_of(kRunCommand, ".SH");
  for (const Command* const command : commands()) {
    text += fmt::format(".SH {} {}\n", name, command->name) + roff_of(*command, ".SS");
  }
  text += ".SH EXPERIMENTS\n";
  const experiments::Laboratory laboratory;
  for (const auto& experiment : laboratory.experiments()) text += roff_of(*experiment);
  return text;
}

}  // namespace howard::cli
