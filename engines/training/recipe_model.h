// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/models/language_model.h"
#include "engines/models/llama.h"
#include "engines/models/nano_gpt.h"
#include "engines/training/recipe.h"

namespace howard::training {

// In these functions, `vocabulary` is the number of rows of the token table. `group` has the
// devices that divide the layers and must outlive the model; null stands for one device alone. With
// `sequence_parallel` they divide the rows of a llama between the layers too; asking a nano_gpt for
// it is a bug.

/// Returns the sizes of a recipe that is a nano_gpt.
models::NanoGptOptions nano_gpt_options(const Recipe& recipe, std::int64_t vocabulary,
                                        const autograd::DeviceGroup* group = nullptr);

/// Returns the sizes of a recipe that is a llama.
models::LlamaOptions llama_options(const Recipe& recipe, std::int64_t vocabulary,
                                   const autograd::DeviceGroup* group = nullptr,
                                   bool sequence_parallel = false);

/// Makes the model of a recipe, in which only the mask has values. Throws Error as the model does.
std::unique_ptr<models::LanguageModel> make_model(Device& device, const Recipe& recipe,
                                                  std::int64_t vocabulary,
                                                  const autograd::DeviceGroup* group = nullptr,
                                                  bool sequence_parallel = false);

}  // namespace howard::training
