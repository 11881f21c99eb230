// SPDX-License-Identifier: Apache-2.0
#include "engines/models/language_model.h"

#include "base/check.h"
#include "engines/autograd/host_values.h"
#include "engines/models/classifier.h"
#include "engines/models/deepseek.h"
#include "engines/models/llama.h"
#include "engines/models/nano_gpt.h"
#include "engines/models/qwen3.h"

namespace howard::models {

void LanguageModel::write_tokens(CommandQueue& queue, const ops::Tensor& to,
                                 std::span<const std::uint32_t> values) const {
  autograd::write_indices(queue, to, values);
}

std::unique_ptr<LanguageModel> make_model(Device& device, const ModelOptions& options) {
  if (options.kind == ModelKind::llama) return std::make_unique<Llama>(device, options);
  if (options.kind == ModelKind::mlp) return std::make_unique<Classifier>(device, options);
  if (options.kind == ModelKind::qwen3) return std::make_unique<Qwen3>(device, options);
  if (options.kind == ModelKind::deepseek) return std::make_unique<DeepSeek>(device, options);
  HOWARD_CHECK(!options.sequence_parallel, "a nano_gpt has whole sequences on each device");
  return std::make_unique<NanoGpt>(device, options);
}

void copy_parameters(CommandQueue& queue, LanguageModel& from, LanguageModel& to) {
  const auto copy = [&](const std::vector<autograd::Parameter*>& values,
                        const std::vector<autograd::Parameter*>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      autograd::write_values(queue, places[i]->value,
                             autograd::read_values(queue, values[i]->value));
    }
  };
  copy(from.parameters(), to.parameters());
  copy(from.buffers(), to.buffers());
}

}  // namespace howard::models
