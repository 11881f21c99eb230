// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command/known.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace howard::cli {

std::vector<std::string> known_names(const experiments::ExperimentList& list) {
  std::vector<std::string> names;
  for (const auto& experiment : list) names.emplace_back(experiment->name());
  for (const Command* const command : commands()) names.emplace_back(command->name);
  return names;
}

std::vector<const harness::Experiment*> select(const experiments::ExperimentList& list,
                                               const std::vector<std::string>& names) {
  std::vector<const harness::Experiment*> selected;
  for (const std::string& name : names) {
    if (find_command(name) != nullptr) {
      throw UsageError(
          fmt::format("{0} is a command and comes first: run_experiment {0} --help", name));
    }
    const bool known = std::ranges::any_of(
        list, [&](const auto& experiment) { return experiment->name() == name; });
    if (name != "all" && !known) {
      std::vector<std::string> words = known_names(list);
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

}  // namespace howard::cli
