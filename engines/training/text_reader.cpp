// SPDX-License-Identifier: Apache-2.0
#include "engines/training/text_reader.h"

#include <algorithm>

#include "engines/autograd/host_values.h"

namespace howard::training {
namespace {

/// Runs the trained parameters in a model with a batch of one sequence and no dropout.
class WindowReader final : public TextReader {
 public:
  WindowReader(Device& device, models::LanguageModel& trained)
      : device_(device), model_(trained.of_one_sequence(device)) {
    CommandQueue& queue = device.command_queue(0);
    const auto from = trained.parameters();
    const auto to = model_->parameters();
    for (std::size_t i = 0; i < to.size(); ++i) {
      autograd::write_values(queue, to[i]->value, autograd::read_values(queue, from[i]->value));
    }
  }

  std::vector<float> logits(std::span<const std::uint32_t> text) override {
    const auto sequence = static_cast<std::size_t>(model_->tokens().spec().shape.columns());
    if (text.size() > sequence) text = text.last(sequence);
    std::vector<std::uint32_t> window(sequence, 0);
    std::ranges::copy(text, window.begin());
    CommandQueue& queue = device_.command_queue(0);
    autograd::write_indices(queue, model_->tokens(), window);
    autograd::Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                                  .compute = model_->compute(),
                                  .records = false});
    const ops::Tensor result = tape.tensor(model_->logits(tape, model_->tokens()));
    const std::vector<float> all = autograd::read_values(queue, result);
    const auto width = static_cast<std::ptrdiff_t>(result.spec().shape.columns());
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(text.size() - 1) * width;
    return {row, row + width};
  }

 private:
  Device& device_;
  std::unique_ptr<models::LanguageModel> model_;
};

class CacheReader final : public TextReader {
 public:
  CacheReader(Device& device, models::Llama& model, const models::CacheOptions& options)
      : model_(device, model, options) {}

  std::vector<float> logits(std::span<const std::uint32_t> text) override {
    const auto known = static_cast<std::size_t>(model_.position());
    if (known == 0 || known >= text.size()) {
      model_.prefill(text);
    } else {
      for (const std::uint32_t token : text.subspan(known)) model_.decode(token);
    }
    return model_.logits();
  }

 private:
  models::CachedLlama model_;
};

}  // namespace

std::unique_ptr<TextReader> window_reader(Device& device, models::LanguageModel& trained) {
  return std::make_unique<WindowReader>(device, trained);
}

std::unique_ptr<TextReader> cache_reader(Device& device, models::Llama& model,
                                         const models::CacheOptions& options) {
  return std::make_unique<CacheReader>(device, model, options);
}

}  // namespace howard::training
