// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "engines/training/config/ttml_yaml.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// Holds what the files say, and can refuse it.
struct TtmlChecker {
  const TtmlSettings& settings;

  const TtmlTraining& training() const { return settings.config.training; }
  const TtmlTransformer& model() const { return settings.config.transformer; }

  void require(bool holds, const std::string& key, const std::string& value,
               const std::string& accepted, const std::string& hint = "") const {
    if (!holds) refuse_ttml(settings, key, value, accepted, hint);
  }
  template <class Number>
  void require_number(bool holds, const std::string& key, Number value,
                      const std::string& accepted) const {
    require(holds, key, fmt::format("{}", value), accepted);
  }
  void require_off(const std::string& key, bool value, const std::string& why) const {
    require(!value, key, "true", "false: " + why);
  }
};

/// Says which keys have another value than their default, as files that hold all keys do.
class ChangedKeys {
 public:
  explicit ChangedKeys(const TtmlConfig& config)
      : values_(ttml_values(config)), defaults_(ttml_values({})) {}

  bool has(const std::string& key) const { return value(key) != text_in(defaults_, key); }
  std::string value(const std::string& key) const { return text_in(values_, key); }

 private:
  using Texts = std::map<std::string, std::string>;

  static std::string text_in(const Texts& texts, const std::string& key) {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string() : found->second;
  }

  Texts values_, defaults_;
};

/// Applies grpo_config: the batch, the accumulation and the updates of TTML's GRPOTrainer, unless
/// --with says otherwise. Throws Error for what that refuses.
void apply_grpo(const TtmlChecker& check, Recipe& recipe);
/// Throws Error for a value that its key does not take by itself.
void require_accepted(const TtmlChecker& check);
/// Applies the keys that are settings of a recipe. Throws Error for a value out of range.
void apply_keys(const TtmlChecker& check, Recipe& recipe);
/// Applies `type` and the numbers of the map `optimizer`, which take precedence over the single
/// keys.
void apply_optimizer_map(const TtmlChecker& check, Recipe& recipe);
/// Throws Error for a key whose setting does not go with the others.
void require_rules(const TtmlChecker& check, const Recipe& recipe);

/// Returns the recipe of a file of TTML's mnist_mlp.
Recipe mlp_recipe(const TtmlChecker& check);

}  // namespace howard::training
