// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/manual/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/pattern.h"
#include "base/text.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/verbs/verbs.h"
#include "reports/published/reference.h"
#include "reports/tables/cell_text.h"

namespace howard::cli {

extern const std::string_view kListHelp;  // the build compiles list_help.md in

namespace {

using experiments::ExperimentList;
using harness::Backend;
using harness::Experiment;
using nlohmann::ordered_json;

constexpr std::size_t kTextWidth = 80;
constexpr std::array kBothBackends{Backend::emulated, Backend::host};

struct ListOptions {
  std::vector<std::string> patterns;
  std::string json;
  bool help = false;
};

ListOptions parse_list_options(int argc, const char* const* argv) {
  CLI::App app;
  ListOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("patterns", options.patterns);
  app.add_option("--json", options.json);
  parse_command_line(app, argc, argv);
  return options;
}

/// Holds what is to be listed.
struct Selection {
  std::vector<const Experiment*> experiments;
  std::vector<const Verb*> commands;
};

std::vector<std::string> names_of(const ExperimentList& list) {
  std::vector<std::string> names;
  for (const auto& experiment : list) names.emplace_back(experiment->name());
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  return names;
}

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
  for (const Verb& verb : verbs()) {
    if (wanted(verb.name)) selection.commands.push_back(&verb);
  }
  return selection;
}

std::string listed(const Selection& selection) {
  std::vector<std::string> sections(3);
  sections[1] = "Tools about the emulator, not part of all:\n";
  sections[2] = "Commands, each with a --help of its own:\n";
  std::array<bool, 3> used{};
  const auto add = [&](std::size_t section, std::string_view name, std::string_view text) {
    sections[section] += fmt::format("{:<16} {}\n", name, text);
    used.at(section) = true;
  };
  for (const Experiment* const experiment : selection.experiments) {
    add(experiment->is_tool() ? 1 : 0, experiment->name(), experiment->question());
  }
  for (const Verb* const verb : selection.commands) add(2, verb->name, verb->summary);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (used.at(i)) shown.push_back(sections[i]);
  }
  return join(shown, "\n");
}

ordered_json to_json(const Experiment& experiment) {
  ordered_json axes = ordered_json::object();
  for (const Backend backend : kBothBackends) {
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

std::string to_json(const Selection& selection) {
  ordered_json text{{"schema", "howard.list/1"},
                    {"experiments", ordered_json::array()},
                    {"commands", ordered_json::array()}};
  for (const Experiment* const experiment : selection.experiments) {
    text["experiments"].push_back(to_json(*experiment));
  }
  for (const Verb* const verb : selection.commands) {
    text["commands"].push_back({{"name", verb->name}, {"summary", verb->summary}});
  }
  return text.dump(2) + "\n";
}

std::string indented(const std::string& text) {
  std::string lines = "  ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "  ";
  }
  return lines + "\n";
}

/// Returns lines that begin with `term` in a column of its own.
std::string described(std::string_view term, std::string_view text) {
  constexpr std::size_t kColumn = 14;
  std::string lines = fmt::format("  {:<{}}", term, kColumn - 2);
  bool first = true;
  for (const std::string& line : split(reports::wrapped(text, kTextWidth - kColumn), '\n')) {
    if (!first) lines += "\n" + std::string(kColumn - 2, ' ');
    first = false;
    lines += line;
  }
  return lines + "\n";
}

std::string axes_text(const Experiment& experiment, Backend backend) {
  const std::vector<harness::Axis> axes = experiment.axes(backend);
  if (axes.empty()) return "";
  std::string text = fmt::format("\nAXES with --backend {}\n", name_of(backend));
  for (const harness::Axis& axis : axes) {
    const std::string values = axis.values.empty() ? "not set" : join(axis.values, ", ");
    text += described(axis.name, axis.meaning) + described("", "default: " + values);
  }
  return text;
}

std::string timing_text(const Experiment& experiment) {
  const harness::VirtualTiming timing = experiment.timing();
  if (timing.iterations == 0) return "  Nothing is timed: each point is worked out once.\n";
  return indented(reports::wrapped(
      fmt::format("On the emulated chip {} iterations warm up and {} are timed; `time` is the mean "
                  "of one.",
                  timing.warmup, timing.iterations),
      kTextWidth - 2));
}

std::string published_text(const Experiment& experiment) {
  std::string text;
  for (const reports::ReferenceTable& table : reports::reference_tables(experiment.name())) {
    text += indented(reports::wrapped(fmt::format("{} row{}: {}", table.rows.size(),
                                                  table.rows.size() == 1 ? "" : "s", table.title),
                                      kTextWidth - 2));
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

/// Returns the descriptions of whole names.
std::string descriptions(const ExperimentList& list, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    const Verb* const verb = find_verb(name);
    texts.push_back(verb == nullptr ? description(*select(list, {name}).front())
                                    : std::string(*verb->help));
  }
  return join(texts, "\n");
}

}  // namespace

std::vector<const Experiment*> select(const ExperimentList& list,
                                      const std::vector<std::string>& names) {
  std::vector<const Experiment*> selected;
  for (const std::string& name : names) {
    if (find_verb(name) != nullptr) {
      throw UsageError(
          fmt::format("{0} is a command and comes first: run_experiment {0} --help", name));
    }
    const bool known = std::ranges::any_of(
        list, [&](const auto& experiment) { return experiment->name() == name; });
    if (name != "all" && !known) {
      std::vector<std::string> words = names_of(list);
      words.emplace_back("all");
      const auto suggestion = closest(name, words);
      throw UsageError(fmt::format(
          "unknown experiment '{}'; {}", name,
          suggestion ? "did you mean " + *suggestion + "?" : "try run_experiment list"));
    }
    for (const auto& experiment : list) {
      const bool wanted = name == "all" ? !experiment->is_tool() : name == experiment->name();
      if (wanted && std::ranges::find(selected, experiment.get()) == selected.end()) {
        selected.push_back(experiment.get());
      }
    }
  }
  return selected;
}

std::string description(const Experiment& experiment) {
  std::string text = reports::wrapped(
      fmt::format("{} - {}", experiment.name(), experiment.question()), kTextWidth);
  text += fmt::format("\n\nUSAGE\n  run_experiment {} [-a AXIS=V1,V2]... [OPTIONS]\n",
                      experiment.name());
  text += timing_text(experiment);
  for (const Backend backend : kBothBackends) text += axes_text(experiment, backend);
  text += published_text(experiment) + examples_text(experiment);
  return text + "\nrun_experiment --help has the options of all experiments.\n";
}

int list(int argc, const char* const* argv) {
  const ListOptions options = parse_list_options(argc, argv);
  if (options.help) {
    fmt::print("{}", kListHelp);
    return kOk;
  }
  const experiments::Laboratory laboratory;
  const ExperimentList& all = laboratory.experiments();
  const Selection selection = select_matching(all, options.patterns);
  if (selection.experiments.empty() && selection.commands.empty()) {
    static_cast<void>(select(all, options.patterns));  // it knows what was meant
  }
  const std::vector<std::string> names = names_of(all);
  const bool whole = !options.patterns.empty() &&
                     std::ranges::all_of(options.patterns, [&](const std::string& pattern) {
                       return std::ranges::find(names, pattern) != names.end();
                     });
  if (!options.json.empty()) {
    write_file(options.json, to_json(selection));
  } else {
    fmt::print("{}", whole ? descriptions(all, options.patterns) : listed(selection));
  }
  return kOk;
}

}  // namespace howard::cli
