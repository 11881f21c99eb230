// SPDX-License-Identifier: Apache-2.0
#include "engines/language/text_reader.h"

#include <algorithm>

#include "engines/autograd/host_values.h"

namespace howard::language {
namespace {

/// Runs the trained parameters in a model with a batch of one sequence and no dropout.
class WindowReader final : public TextReader {
 public:
  WindowReader(Device& device, models::LanguageModel& trained)
      : device_(device), model_(trained.of_one_sequence(device)) {
    models::copy_parameters(device.command_queue(0), trained, *model_);
  }

  std::vector<float> logits(std::span<const std::uint32_t> text) override {
    CommandQueue& queue = device_.command_queue(0);
    const std::int64_t last = write_window(queue, *model_, text);
    autograd::Tape tape(device_, {.calls = {.products = models::kTtmlProducts},
                                  .compute = model_->compute(),
                                  .records = false});
    return logits_at(queue, tape.tensor(model_->logits(tape, model_->tokens())), last);
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

std::int64_t write_window(CommandQueue& queue, const models::LanguageModel& model,
                          std::span<const std::uint32_t> text) {
  const auto sequence = static_cast<std::size_t>(model.tokens().spec().shape.columns());
  if (text.size() > sequence) text = text.last(sequence);
  std::vector<std::uint32_t> window(sequence, 0);
  std::ranges::copy(text, window.begin());
  autograd::write_indices(queue, model.tokens(), window);
  return static_cast<std::int64_t>(text.size()) - 1;
}

std::vector<float> logits_at(CommandQueue& queue, const ops::Tensor& logits, std::int64_t place) {
  const std::vector<float> all = autograd::read_values(queue, logits);
  const std::int64_t width = logits.spec().shape.columns();
  const auto row = all.begin() + place * width;
  return {row, row + width};
}

std::unique_ptr<TextReader> window_reader(Device& device, models::LanguageModel& trained) {
  return std::make_unique<WindowReader>(device, trained);
}

std::unique_ptr<TextReader> cache_reader(Device& device, models::Llama& model,
                                         const models::CacheOptions& options) {
  return std::make_unique<CacheReader>(device, model, options);
}

}  // namespace howard::language
