// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/models/language_model.h"
#include "engines/models/llama.h"
#include "engines/models/nano_gpt.h"
#include "engines/training/recipe.h"

namespace howard::training {

// `vocabulary`: rows of the token table. `group`: the devices that divide the layers, which must
// outlive the model; null for one device alone.

/// The sizes of a recipe that is a nano_gpt.
models::NanoGptOptions nano_gpt_options(const Recipe& recipe, std::int64_t vocabulary,
                                        const autograd::DeviceGroup* group = nullptr);

/// The same of a llama.
models::LlamaOptions llama_options(const Recipe& recipe, std::int64_t vocabulary,
                                   const autograd::DeviceGroup* group = nullptr);

/// The model of a recipe, but for the mask without values. Error as for the model.
std::unique_ptr<models::LanguageModel> make_model(Device& device, const Recipe& recipe,
                                                  std::int64_t vocabulary,
                                                  const autograd::DeviceGroup* group = nullptr);

}  // namespace howard::training
