// SPDX-License-Identifier: Apache-2.0
#include "engines/models/language_model.h"

#include "engines/autograd/host_values.h"

namespace howard::models {

void copy_parameters(CommandQueue& queue, LanguageModel& from, LanguageModel& to) {
  const auto values = from.parameters();
  const auto parameters = to.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    autograd::write_values(queue, parameters[i]->value,
                           autograd::read_values(queue, values[i]->value));
  }
}

}  // namespace howard::models
