// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "experiments/laboratory/laboratory.h"
#include "experiments/questions/explain_question.h"
#include "experiments/questions/tuning.h"

namespace howard::cli {
namespace {

/// Returns a word in small letters, without what stands between its parts: "llama31".
std::string plain(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

/// Returns the experiments whose names have the word in them.
std::vector<std::string> names_with(std::string_view word,
                                    const experiments::ExperimentList& list) {
  std::vector<std::string> names;
  for (const auto& experiment : list) {
    if (plain(experiment->name()).find(plain(word)) != std::string::npos) {
      names.emplace_back(experiment->name());
    }
  }
  return names;
}

/// Returns "run_experiment vision -a model=resnet-50" for each experiment that has a model with the
/// word in its name, and not the word in its own, with the first of these models.
std::vector<std::string> models_with(std::string_view word,
                                     const experiments::ExperimentList& list) {
  std::vector<std::string> lines;
  for (const auto& experiment : list) {
    if (plain(experiment->name()).find(plain(word)) != std::string::npos) continue;
    for (const harness::Axis& axis : experiment->axes(harness::Backend::emulated)) {
      if (axis.name != "model") continue;
      const std::vector<std::string> values = values_of(axis);
      const auto found = std::ranges::find_if(values, [&](const std::string& value) {
        return plain(value).find(plain(word)) != std::string::npos;
      });
      if (found == values.end()) continue;
      lines.push_back(
          fmt::format("run_experiment {} -a model={}", experiment->name(), shell_word(*found)));
    }
  }
  return lines;
}

/// Words that people type first, and the lines that they mean.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOtherWords{
    {{"tables", "all --backend emulated"},
     {"figures", "all --backend emulated"},
     {"results", "all --backend emulated"},
     {"claims", "all --backend emulated"},
     {"benchmark", "all --backend emulated"},
     {"bench", "all --backend emulated"},
     {"profile", "python SCRIPT, or run_experiment analyze LOG.csv"},
     {"script", "python SCRIPT"},
     {"log", "analyze LOG.csv"},
     {"plan", "fit -c training.yaml"},
     {"predict", "inference -a model=llama-3.1-8b"},
     {"infer", "inference -a model=llama-3.1-8b"},
     {"models", "list inference"},
     {"chips", "list"}}};

/// Says what to type in place of a name that no experiment has.
std::string advice_on(const std::string& name, const experiments::ExperimentList& list) {
  const auto other =
      std::ranges::find(kOtherWords, name, &std::pair<std::string_view, std::string_view>::first);
  if (other != kOtherWords.end()) return fmt::format("try run_experiment {}", other->second);
  std::vector<std::string> words = known_names(list);
  words.emplace_back("all");
  if (const auto suggestion = closest(name, words)) return "did you mean " + *suggestion + "?";
  constexpr std::size_t kLeastLetters = 3;
  if (plain(name).size() < kLeastLetters) return "try run_experiment list";
  std::vector<std::string> lines;
  for (const std::string& known : names_with(name, list))
    lines.push_back("run_experiment " + known);
  std::ranges::move(models_with(name, list), std::back_inserter(lines));
  return "try " + (lines.empty() ? "run_experiment list" : join(lines, ", or "));
}

}  // namespace

std::vector<std::string> known_names(const experiments::ExperimentList& list) {
  std::vector<std::string> names;
  for (const auto& experiment : list) names.emplace_back(experiment->name());
  for (const Command* const command : commands()) names.emplace_back(command->name);
  return names;
}

const experiments::ExperimentList& known_experiments() {
  static const experiments::Laboratory laboratory;
  return laboratory.experiments();
}

bool is_experiment(const std::string& word) {
  return word == "all" || std::ranges::any_of(known_experiments(),
                                              [&](const auto& one) { return one->name() == word; });
}

std::vector<harness::Axis> axes_of(const Command& command, std::vector<std::string> names) {
  const bool tunes = command.name == kTune.name;
  if (tunes && names.empty()) return experiments::tuning_axes();
  std::ranges::transform(names, names.begin(), experiments::experiment_of_workload);
  const bool explains = !command.name.empty();
  if (explains && names.empty()) {
    names.emplace_back(experiments::experiment_of_workload("matmul"));
  }
  const bool all = std::ranges::find(names, "all") != names.end();
  std::vector<harness::Axis> axes;
  for (const auto& experiment : known_experiments()) {
    if (!all && std::ranges::find(names, experiment->name()) == names.end()) continue;
    for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
      for (harness::Axis& axis : experiment->axes(backend)) {
        if (std::ranges::find(axes, axis.name, &harness::Axis::name) == axes.end()) {
          axes.push_back(std::move(axis));
        }
      }
    }
  }
  return axes;
}

std::vector<std::string> values_of(const harness::Axis& axis) {
  std::string accepted;
  try {
    static_cast<void>(axis.canonical("\x01"));
  } catch (const Error& refusal) {
    accepted = refusal.text().accepted;
  }
  std::vector<std::string> values;
  for (const std::string& part : split(accepted, ',')) {
    std::string word(trimmed(part));
    if (word.starts_with("or ")) continue;  // "or a path of a file"
    try {
      if (axis.canonical(word) == word) values.push_back(std::move(word));
    } catch (const Error&) {
      return axis.values;  // it is a sentence, not a list of words
    }
  }
  return values;
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
      throw UsageError(fmt::format("unknown experiment '{}'; {}", name, advice_on(name, list)));
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
