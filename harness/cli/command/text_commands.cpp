// SPDX-License-Identifier: Apache-2.0
//
// These commands print what the program knows and run nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_dump.h"
#include "base/pattern.h"
#include "base/text.h"
#include "engines/chip/profiles/profiles.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/known.h"
#include "harness/cli/command/manual.h"
#include "harness/cli/command/program.h"
#include "harness/cli/exit_status.h"
#include "harness/environment.h"

namespace howard::cli {
namespace {

using experiments::ExperimentList;
using harness::Backend;
using harness::Experiment;
using nlohmann::ordered_json;

struct ListSettings {
  std::vector<std::string> patterns;
  std::string json;
};

OptionList list_options(ListSettings& settings) {
  return {{"", "PATTERN", "", to(settings.patterns, Completes::experiments)},
          {"--json", "FILE",
           "Writes the names, the questions, the axes and their default values, and the options of "
           "all commands as JSON of the schema howard.list/1; \"-\" is standard output",
           to(settings.json)}};
}

/// Holds what is to be listed.
struct Selection {
  std::vector<const Experiment*> experiments;
  std::vector<const Command*> commands;
  std::vector<chip::Profiles> chips;  ///< Each with the software that it has if none is chosen.
};

Pattern compile_pattern(const std::string& text) {
  try {
    return Pattern(text, "list what matches");
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
}

/// Returns everything that one of the patterns finds, or everything if there are no patterns.
Selection select_matching(const ExperimentList& list, const std::vector<std::string>& patterns) {
  std::vector<Pattern> compiled;
  for (const std::string& pattern : patterns) compiled.push_back(compile_pattern(pattern));
  const auto wanted = [&](std::string_view name) {
    return compiled.empty() || std::ranges::any_of(compiled, [&](const Pattern& pattern) {
             return pattern.find(name).has_value();
           });
  };
  Selection selection;
  for (const auto& experiment : list) {
    if (wanted(experiment->name())) selection.experiments.push_back(experiment.get());
  }
  for (const Command* const command : commands()) {
    if (wanted(command->name)) selection.commands.push_back(command);
  }
  for (const std::string& name : chip::built_in_profiles()) {
    if (chip::profile_kind(chip::built_in_profile(name), name) != "chip" || !wanted(name)) continue;
    selection.chips.push_back(chip::load_profiles({{name}, {}}));
  }
  return selection;
}

/// Returns a chip in one line: "8x7 of 8x8 cores compute, 1000 MHz, 12 GiB of DRAM at 267 GB/s".
std::string line_of(const chip::ChipProfile& chip) {
  const CoreGrid grid = chip.compute_grid(chip::DispatchCoreType::worker);
  return fmt::format("{}x{} of {}x{} cores compute, {} MHz, {} GiB of DRAM at {:.0f} GB/s",
                     grid.columns, grid.rows, chip.tensix.columns, chip.tensix.rows,
                     chip.aiclk.value() / 1'000'000, chip.dram_capacity.value() >> 30,
                     static_cast<double>(chip.dram_bandwidth.value()) * 1e-9);
}

std::string listed(const Selection& selection) {
  std::vector<std::string> sections(4);
  sections[1] = "Tools about the emulator, not part of all:\n";
  sections[2] = "Commands, each with a --help of its own:\n";
  sections[3] = "Chips, which --chip emulates:\n";
  std::array<bool, 4> used{};
  const auto add = [&](std::size_t section, std::string_view name, std::string_view text) {
    sections[section] += fmt::format("{:<{}} {}\n", name, section == 3 ? 19 : 16, text);
    used.at(section) = true;
  };
  for (const Experiment* const experiment : selection.experiments) {
    add(experiment->is_tool() ? 1 : 0, experiment->name(), experiment->question());
  }
  for (const Command* const command : selection.commands) add(2, command->name, command->summary);
  for (const chip::Profiles& each : selection.chips) add(3, each.chip.name, line_of(each.chip));
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (used.at(i)) shown.push_back(sections[i]);
  }
  return join(shown, "\n");
}

ordered_json to_json(const Experiment& experiment) {
  ordered_json axes = ordered_json::object();
  for (const Backend backend : {Backend::emulated, Backend::host}) {
    ordered_json& own = axes[std::string(name_of(backend))] = ordered_json::array();
    for (const harness::Axis& axis : experiment.axes(backend)) {
      own.push_back({{"name", axis.name}, {"meaning", axis.meaning}, {"default", axis.values}});
    }
  }
  return {{"name", experiment.name()},
          {"question", experiment.question()},
          {"tool", experiment.is_tool()},
          {"axes", std::move(axes)}};
}

ordered_json to_json(const chip::Profiles& profiles) {
  const chip::ChipProfile& chip = profiles.chip;
  const CoreGrid grid = chip.compute_grid(chip::DispatchCoreType::worker);
  return {{"name", chip.name},
          {"architecture", chip.architecture},
          {"software", profiles.software.name},
          {"columns", grid.columns},
          {"rows", grid.rows},
          {"clock_hz", chip.aiclk.value()},
          {"dram_bytes", chip.dram_capacity.value()},
          {"dram_bytes_per_second", chip.dram_bandwidth.value()}};
}

ordered_json to_json(const Command& command) {
  ordered_json options = ordered_json::array();
  for (const Option& option : options_of(command)) {
    if (option.names.empty()) continue;
    ordered_json& one = options.emplace_back(ordered_json{
        {"names", option.all_names()}, {"value", option.value}, {"text", option.text}});
    if (!option.values.words.empty()) one["values"] = option.values.words;
  }
  return {{"name", command.name}, {"summary", command.summary}, {"options", std::move(options)}};
}

std::string to_json(const Selection& selection) {
  ordered_json text{{"schema", "howard.list/1"},
                    {"experiments", ordered_json::array()},
                    {"commands", ordered_json::array()},
                    {"chips", ordered_json::array()}};
  for (const Experiment* const experiment : selection.experiments) {
    text["experiments"].push_back(to_json(*experiment));
  }
  for (const Command* const command : selection.commands) {
    text["commands"].push_back(to_json(*command));
  }
  for (const chip::Profiles& each : selection.chips) text["chips"].push_back(to_json(each));
  return json_dump(text, 2) + "\n";
}

/// Returns what --help prints for these names.
std::string descriptions(const ExperimentList& list, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    const Command* const command = find_command(name);
    texts.push_back(command == nullptr ? description(*select(list, {name}).front())
                                       : help_of(*command));
  }
  return join(texts, "\n");
}

int list_names(const ListSettings& settings) {
  const experiments::Laboratory laboratory;
  const ExperimentList& all = laboratory.experiments();
  const Selection selection = select_matching(all, settings.patterns);
  if (selection.experiments.empty() && selection.commands.empty() && selection.chips.empty()) {
    static_cast<void>(select(all, settings.patterns));  // it knows what was meant
  }
  const std::vector<std::string> names = known_names(all);
  const bool whole = !settings.patterns.empty() &&
                     std::ranges::all_of(settings.patterns, [&](const std::string& pattern) {
                       return std::ranges::find(names, pattern) != names.end();
                     });
  if (!settings.json.empty()) {
    write_file(settings.json, to_json(selection));
  } else {
    fmt::print("{}", whole ? descriptions(all, settings.patterns) : listed(selection));
  }
  return kOk;
}

struct HelpSettings {
  std::vector<std::string> names;
};

OptionList help_options(HelpSettings& settings) {
  return {{"", "NAME", "", to(settings.names, Completes::experiments)}};
}

int print_help(const HelpSettings& settings) {
  const bool whole =
      settings.names.empty() || std::ranges::find(settings.names, "all") != settings.names.end();
  fmt::print("{}", whole ? help_of(kRunCommand)
                         : descriptions(experiments::Laboratory().experiments(), settings.names));
  return kOk;
}

struct Nothing {};

OptionList no_options(Nothing&) { return {}; }

int print_man_page(const Nothing&) {
  fmt::print("{}", man_page());
  return kOk;
}

int print_version(const Nothing&) {
  fmt::print("{}", version_text());
  return kOk;
}

constexpr std::string_view kTextStatus = "0 done; 2 bad command line";

}  // namespace

std::string version_text() {
  const harness::RunContext context = harness::describe_environment();
  return "howard " + context.version + " (" + context.git + ", " + context.compiler + ", " +
         context.build_type + ")\n";
}

const Command kList{
    .name = "list",
    .summary = "show what can be run",
    .usage = {"[PATTERN...] [OPTIONS]"},
    .text =
        {{"",
          "Without a pattern it prints a line for each experiment, each command and each chip. A "
          "pattern is "
          "a regular expression; only names in which one of the patterns is found are listed. "
          "If PATTERN is a whole name, it prints what `NAME --help` prints: axes, values, timing "
          "and examples."}},
    .examples = {"run_experiment list gpt2", "run_experiment list matmul_sweep",
                 "run_experiment list --json -"},
    .begin = begin<list_options, list_names>,
    .sharing = Sharing::text};

const Command kHelp{.name = "help",
                    .summary = "print the manual, or the --help of a name",
                    .usage = {"[NAME...]"},
                    .text = {},
                    .examples = {},
                    .status = kTextStatus,
                    .begin = begin<help_options, print_help>,
                    .sharing = Sharing::text};

const Command kMan{
    .name = "man",
    .summary = "print the manual page",
    .usage = {""},
    .text = {{"",
              "It prints the --help of the program and of each command, and the axes "
              "of each experiment, in man(7)."}},
    .examples = {"run_experiment man | man -l -"},
    .status = kTextStatus,
    .begin = begin<no_options, print_man_page>,
    .sharing = Sharing::text};

const Command kVersion{.name = "version",
                       .summary = "print the version, the commit and the compiler",
                       .usage = {""},
                       .text = {},
                       .examples = {},
                       .status = kTextStatus,
                       .begin = begin<no_options, print_version>,
                       .sharing = Sharing::text};

}  // namespace howard::cli
