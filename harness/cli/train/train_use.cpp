// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_use.h"

#include <initializer_list>
#include <string_view>

#include "engines/training/settings.h"
#include "harness/cli/given_options.h"
#include "harness/cli/train/train.h"

namespace howard::cli {
void require_used_options(const TrainOptions& options) {
  const training::Recipe& recipe = options.recipe;
  const auto require = [&](bool used, const std::string& purpose,
                           std::initializer_list<std::string_view> names) {
    require_use(options.given, names, used, purpose);
  };
  require(options.generate > 0, "--generate N",
          {"prompt", "temperature", "top-k", "top-p", "repetition-penalty"});
  if (options.verb == kTrainVerb) {
    require(!options.checkpoint.empty(), "--checkpoint FILE", {"every"});
    return;  // its files say the rest, and are read as a whole
  }
  training::for_each_setting(recipe, [&](const training::Setting& setting, const auto&) {
    if (setting.use.holds == nullptr) return;
    require(setting.use.holds(recipe), "--" + std::string(setting.use.words), {setting.name});
  });
}

}  // namespace howard::cli
