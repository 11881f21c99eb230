// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "engines/training/config/ttml_checker.h"

namespace howard::training {
namespace {

const std::string kSection = "grpo_config.";

/// Throws Error for a key that is not there: TTML has no defaults for them.
void require_grpo_keys(const TtmlChecker& check) {
  for_each_ttml_key(check.settings.config, [&](const TtmlKey& key, const auto& field) {
    const bool optional = key.name == "output_dir" || key.name.ends_with("batch_size");
    if constexpr (requires { field.has_value(); }) {
      if (key.section != "grpo_config" || optional) return;
      check.require(field.has_value(), key.whole(), "it is not set",
                    "a value: TTML has no default of it");
    }
  });
  const TtmlGrpo& grpo = check.settings.config.grpo;
  check.require(grpo.per_device_train_batch_size || grpo.micro_batch_size,
                kSection + "per_device_train_batch_size", "it is not set",
                "the completions of a micro batch on a device");
  const std::int64_t old = grpo.micro_batch_size.value_or(0);
  check.require_number(
      !grpo.micro_batch_size || grpo.per_device_train_batch_size.value_or(old) == old,
      kSection + "micro_batch_size", old, "what per_device_train_batch_size is, or no such key");
  check.require_number(*grpo.epsilon > 0, kSection + "epsilon", *grpo.epsilon, "above 0");
  check.require_number(*grpo.temperature > 0, kSection + "temperature", *grpo.temperature,
                       "above 0: at 0 all completions of a prompt are the same");
}

/// Returns the devices that divide a batch.
std::int64_t batch_devices(const TtmlChecker& check) {
  const TtmlDevices& devices = check.settings.config.devices;
  if (!devices.enable_ddp || devices.mesh_shape.size() != 2) return 1;
  const bool alone = !devices.enable_tp && !devices.enable_fsdp;
  return devices.mesh_shape[0] * (alone ? devices.mesh_shape[1] : 1);
}

}  // namespace

void apply_grpo(const TtmlChecker& check, Recipe& recipe) {
  require_grpo_keys(check);
  const TtmlGrpo& grpo = check.settings.config.grpo;
  const std::int64_t each =
      grpo.per_device_train_batch_size ? *grpo.per_device_train_batch_size : *grpo.micro_batch_size;
  const std::int64_t batch = each * batch_devices(check), group = *grpo.num_generations;
  check.require_number(batch % group == 0, kSection + "num_generations", group,
                       fmt::format("a divisor of the {} completions of a micro batch", batch));
  const std::int64_t prompts = batch / group * *grpo.gradient_accumulation_steps;
  check.require_number(*grpo.prompts_to_train % prompts == 0, kSection + "prompts_to_train",
                       *grpo.prompts_to_train,
                       fmt::format("a multiple of the {} prompts of a step", prompts));
  check.require_number(*grpo.max_completion_length < check.model().max_sequence_length,
                       kSection + "max_completion_length", *grpo.max_completion_length,
                       fmt::format("less than max_sequence_length, {}, as prompts need room",
                                   check.model().max_sequence_length));
  const auto set = [&](const char* key, auto& field, std::int64_t value) {
    const auto given = check.settings.places.find(std::string("training_config.") + key);
    if (given != check.settings.places.end() && given->second.starts_with("--with")) return;
    field = static_cast<std::remove_reference_t<decltype(field)>>(value);
  };
  set("batch_size", recipe.model.batch, batch);
  set("gradient_accumulation_steps", recipe.accumulate, *grpo.gradient_accumulation_steps);
  set("max_steps", recipe.schedule.steps, *grpo.prompts_to_train / prompts * *grpo.num_iterations);
}

}  // namespace howard::training
