// SPDX-License-Identifier: Apache-2.0
#include "engines/training/config/ttml_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace howard::training {
namespace {

/// Names the section of the file itself, so that a mistyped section is recognized.
constexpr const char* kTopLevel = "";

std::string place_of(const std::string& file, const YAML::Mark& mark) {
  if (file.starts_with("--")) return file;  // an option, which is one line
  return fmt::format("{}:{}", file, mark.line + 1);
}

[[noreturn]] void fail_at(const std::string& place, std::string value, std::string accepted,
                          std::string hint = "") {
  throw Error({.attempted = "read the settings at " + place,
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

/// A key of a map, as its text and place.
struct YamlValue {
  std::string name;   ///< Such as "training_config.batch_size".
  std::string place;  ///< Such as "file:line".
  YAML::Node node;

  [[noreturn]] void refuse(const std::string& accepted) const {
    const std::string what = node.IsScalar() ? "'" + node.Scalar() + "'" : "no single value";
    fail_at(place, name + " is " + what, accepted);
  }
  const std::string& text() const {
    if (!node.IsScalar()) refuse("a value");
    return node.Scalar();
  }
};

/// A variable in a text: `${NAME}` or `$NAME`.
struct Variable {
  std::size_t begin = 0, end = 0;
  std::string name;
};

/// Returns the first variable from `from` on.
std::optional<Variable> next_variable(std::string_view text, std::size_t from) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t i = text.find('$', from); i != std::string_view::npos;
       i = text.find('$', i + 1)) {
    const bool braced = i + 1 < text.size() && text[i + 1] == '{';
    const std::size_t closing = braced ? 1 : 0;
    const std::size_t first = i + 1 + closing;
    std::size_t last = first;
    while (last < text.size() && is_word(text[last])) ++last;
    const bool closed = !braced || (last < text.size() && text[last] == '}');
    if (last == first || !closed) continue;
    return Variable{i, last + closing, std::string(text.substr(first, last - first))};
  }
  return std::nullopt;
}

/// Puts values of the environment in the place of variables.
std::string expanded(const std::string& text) {
  std::string result;
  std::size_t done = 0;
  for (auto found = next_variable(text, 0); found; found = next_variable(text, found->end)) {
    result += text.substr(done, found->begin - done);
    const char* const value = std::getenv(found->name.c_str());
    result += value == nullptr ? text.substr(found->begin, found->end - found->begin) : value;
    done = found->end;
  }
  return result + text.substr(done);
}

/// Returns the text of a number, which may have underscores between its digits: 30_000.
std::string digits_of(std::string text) {
  const bool number = text.find_first_of("0123456789") <= 1;
  if (number) std::erase(text, '_');
  return text;
}

void take(const YamlValue& value, std::string& field) { field = expanded(value.text()); }

void take(const YamlValue& value, std::int64_t& field) {
  const auto number = parse_integer(digits_of(value.text()));
  if (!number) value.refuse("a whole number");
  field = *number;
}

void take(const YamlValue& value, float& field) {
  const auto number = parse_number(digits_of(value.text()));
  if (!number || std::abs(*number) > double{std::numeric_limits<float>::max()}) {
    value.refuse("a number");
  }
  field = static_cast<float>(*number);
}

void take(const YamlValue& value, bool& field) {
  std::string word = value.text();
  std::ranges::transform(word, word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (word != "true" && word != "false") value.refuse("true, false");
  field = word == "true";
}

template <class Item>
void take(const YamlValue& value, std::vector<Item>& field) {
  const bool whole = std::is_integral_v<Item>;
  if (!value.node.IsSequence()) {
    value.refuse(whole ? "a list of whole numbers: [1, 2]" : "a list of words: [linear, cosine]");
  }
  field.clear();
  for (const YAML::Node& item : value.node) {
    take({value.name, value.place, item}, field.emplace_back());
  }
}

void take(const YamlValue& value, std::map<std::int64_t, std::int64_t>& field) {
  if (!value.node.IsMap()) value.refuse("a map of whole numbers: {0: 6, 1: 7}");
  field.clear();
  for (const auto& entry : value.node) {
    std::int64_t rank = 0;
    take({value.name, value.place, entry.first}, rank);
    take({value.name, value.place, entry.second}, field[rank]);
  }
}

template <class Value>
void take(const YamlValue& value, std::optional<Value>& field) {
  take(value, field.emplace());
}

/// Returns the keys and the maps within each map, by its section.
std::map<std::string, std::vector<std::string>> known_keys() {
  std::map<std::string, std::vector<std::string>> known;
  TtmlConfig config;
  for_each_ttml_key(config, [&](const TtmlKey& key, const auto&) {
    const std::string section(key.section);
    if (!known.contains(section)) {
      const std::size_t dot = section.rfind('.');
      const bool inner = dot != std::string::npos;
      known[inner ? section.substr(0, dot) : kTopLevel].push_back(inner ? section.substr(dot + 1)
                                                                        : section);
    }
    known[section].emplace_back(key.name);
  });
  return known;
}

/// A key of TTML that would change the plan, and that no plan knows.
struct UnplannedKey {
  std::string_view name, accepted;
};
constexpr std::string_view kExpertsOfAll =
    "experts that all devices have: n_routed_experts and n_activated_experts of transformer_config";
constexpr std::string_view kOwnRollouts = "rollouts by the devices that train";
constexpr std::array kUnplanned{UnplannedKey{"moe_type", kExpertsOfAll},
                                UnplannedKey{"moe_hyperparam", kExpertsOfAll},
                                UnplannedKey{"remote_rollout_config", kOwnRollouts},
                                UnplannedKey{"rollout_queue_capacity", kOwnRollouts}};

class TtmlReader {
 public:
  TtmlReader(std::string file, TtmlSettings& settings)
      : file_(std::move(file)),
        settings_(settings),
        has_mlp_(settings.config.training.mlp != TtmlMlp{}),
        known_(known_keys()) {}

  void read(const YAML::Node& node, const std::string& section) {
    if (node.IsNull()) return;  // a key with nothing behind it
    if (section.empty() && node.IsMap()) has_mlp_ = has_mlp_ || is_of_mlp(node);
    if (!node.IsMap()) {
      fail_at(place_of(file_, node.Mark()), (section.empty() ? "the file" : section) + " is no map",
              "keys with values: training_config: {batch_size: 64}");
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string place = place_of(file_, entry.first.Mark());
      if (!entry.first.IsScalar()) fail_at(place, "a key that is no word", "words");
      const std::string key = entry.first.Scalar();
      if (!seen.insert(key).second) fail_at(place, key + " is there twice", "each key once");
      take_key(section, key, place, entry.second);
    }
  }

 private:
  static bool is_of_mlp(const YAML::Node& node) {
    const YAML::Node training = node["training_config"];
    if (node["mlp_config"] || !training || !training.IsMap()) return bool(node["mlp_config"]);
    // No other file of TTML logs so; its model may stand in a file of its own.
    return training["mlp_config"] || (training["logging_interval"] && training["model_config"]);
  }

  /// Returns the section in which a key of mnist_mlp's files is kept here: its numbers of SGD are
  /// those of the map `optimizer`.
  std::string section_of(const std::string& section, const std::string& key) const {
    if (section.empty() && key == "mlp_config") return kTraining;
    // TTML's trainer of GRPO reads it within training_config; other files have it beside that.
    if (section == kTraining && key == "grpo_config") return "";
    if (!has_mlp_ || section != kTraining) return section;
    const bool sgd = key == "momentum" || key == "dampening" || key == "nesterov";
    if (sgd) return "training_config.optimizer";
    return key == "logging_interval" ? "training_config.mlp_config" : section;
  }

  void take_key(const std::string& given, const std::string& key, const std::string& place,
                const YAML::Node& node) {
    const std::string section = section_of(given, key);
    const std::string name = section.empty() ? key : section + "." + key;
    if (name == "grpo_config" && !place.starts_with("--")) {
      settings_.notes.push_back(
          place +
          ": grpo_config is for TTML's GRPOTrainer, whose rewards are a function of a script: what "
          "follows is its update, on a text, of per_device_train_batch_size completions on each "
          "device, which fill max_sequence_length with their prompts. A step has its forward pass "
          "once more, for the log-probabilities before it, and the generation, which fit adds for "
          "a llama; a script with ttml.trainers.GRPOTrainer makes all of it (run_experiment "
          "python)");
    }
    if (known_.contains(name)) return read(node, name);
    if (const auto* unplanned = std::ranges::find(kUnplanned, key, &UnplannedKey::name);
        unplanned != kUnplanned.end() && !node.IsNull()) {
      fail_at(place, fmt::format("{} is not planned", name), std::string(unplanned->accepted));
    }
    if (!is_known(section, key, place) || node.IsNull()) return;
    for_each_ttml_key(settings_.config, [&](const TtmlKey& known, auto& field) {
      if (known.section == section && known.name == key) take({name, place, node}, field);
    });
    settings_.places[name] = place;
  }

  /// Notes a key that TTML does not have. Throws Error for one that is mistyped or misplaced.
  bool is_known(const std::string& section, const std::string& key, const std::string& place) {
    const std::vector<std::string>& keys = known_.at(section);
    if (std::ranges::find(keys, key) != keys.end()) return true;
    const std::string where = section.empty() ? "" : " of " + section;
    const std::string what = fmt::format("'{}'{} is no key", key, where);
    const auto suggestion = closest(key, keys);
    if (!suggestion) {
      for (const auto& [other, its_keys] : known_) {
        if (std::ranges::find(its_keys, key) == its_keys.end()) continue;
        fail_at(place, what, other == kTopLevel ? "it at the top of a file" : "it in " + other);
      }
    }
    if (suggestion || place == file_)
      fail_at(place, what, join(keys, ", "), suggestion.value_or(""));
    settings_.notes.push_back(fmt::format("{}: {}, and nothing reads it", place, what));
    return false;
  }

  static constexpr const char* kTraining = "training_config";

  std::string file_;
  TtmlSettings& settings_;
  bool has_mlp_;  ///< The file is one of mnist_mlp's.
  std::map<std::string, std::vector<std::string>> known_;
};

/// Sets what TTML's mnist_mlp takes where its file says nothing.
void take_mlp_defaults(TtmlSettings& settings) {
  constexpr std::int64_t kEndlessSteps = 1'000'000'000;  // the epochs end the run
  TtmlTraining& training = settings.config.training;
  const auto set = [&](const char* key, auto& field, const auto& value) {
    if (!settings.has(std::string("training_config.") + key)) field = value;
  };
  set("project_name", training.project_name, "mnist_mlp");
  set("batch_size", training.batch_size, kMlpBatch);
  set("num_epochs", training.num_epochs, std::int64_t{10});
  set("max_steps", training.max_steps, kEndlessSteps);
  set("learning_rate", training.learning_rate, 0.1F);
  set("weight_decay", training.weight_decay, 0.0F);
  set("data_path", training.data_path, "");
}

// These functions write the texts that take() reads back.

std::string yaml_of(const std::string& value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}
std::string yaml_of(bool value) { return value ? "true" : "false"; }
std::string yaml_of(std::int64_t value) { return fmt::format("{}", value); }
std::string yaml_of(float value) { return fmt::format("{}", value); }
template <class Item>
std::string yaml_of(const std::vector<Item>& value) {
  std::vector<std::string> items;
  for (const Item& item : value) items.push_back(yaml_of(item));
  return "[" + join(items, ", ") + "]";
}
std::string yaml_of(const std::map<std::int64_t, std::int64_t>& value) {
  std::vector<std::string> entries;
  for (const auto& [rank, blocks] : value) entries.push_back(fmt::format("{}: {}", rank, blocks));
  return "{" + join(entries, ", ") + "}";
}

/// Returns nothing for an optional without a value.
template <class Field>
std::optional<std::string> value_text(const Field& field) {
  if constexpr (requires { field.has_value(); }) {
    if (!field) return std::nullopt;
    return yaml_of(*field);
  } else {
    return yaml_of(field);
  }
}

}  // namespace

std::string TtmlSettings::name_of(const std::string& key) const {
  const auto found = places.find(key);
  return found == places.end() ? key : found->second + ": " + key;
}

void refuse_ttml(const TtmlSettings& settings, const std::string& key, const std::string& value,
                 const std::string& accepted, const std::string& hint) {
  throw Error({.attempted = "use " + settings.name_of(key),
               .value = value,
               .accepted = accepted,
               .hint = hint});
}

void read_ttml(std::string_view text, const std::string& file, TtmlSettings& settings) {
  YAML::Node root;
  try {
    root = YAML::Load(std::string(text));
  } catch (const YAML::Exception& failure) {
    fail_at(place_of(file, failure.mark), "it is no YAML: " + failure.msg,
            "lines of 'key: value', maps within maps by deeper indents");
  }
  TtmlReader(file, settings).read(root, kTopLevel);
  if (settings.trains_mlp()) take_mlp_defaults(settings);
}

std::string variable_in(std::string_view text) {
  const auto found = next_variable(text, 0);
  return found ? found->name : "";
}

std::map<std::string, std::string> ttml_values(const TtmlConfig& config) {
  std::map<std::string, std::string> values;
  for_each_ttml_key(config, [&](const TtmlKey& key, const auto& field) {
    if (const auto text = value_text(field)) values[key.whole()] = *text;
  });
  return values;
}

std::string ttml_text(const TtmlConfig& config) {
  std::string text;
  std::vector<std::string> open;  // the sections whose heads are written
  for_each_ttml_key(config, [&](const TtmlKey& key, const auto& field) {
    const std::optional<std::string> value = value_text(field);
    if (!value) return;
    const std::vector<std::string> parts = split(key.section, '.');
    std::size_t same = 0;
    while (same < parts.size() && same < open.size() && parts[same] == open[same]) ++same;
    open.resize(same);
    for (std::size_t i = same; i < parts.size(); ++i) {
      text += std::string(2 * i, ' ') + parts[i] + ":\n";
      open.push_back(parts[i]);
    }
    text += std::string(2 * parts.size(), ' ') + std::string(key.name) + ": " + *value + "\n";
  });
  return text;
}

}  // namespace howard::training
