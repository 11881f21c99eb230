// SPDX-License-Identifier: Apache-2.0
#include "engines/training/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"

namespace howard::training {
namespace {

/// Runs the trained parameters in a model with a batch of one sequence and no dropout.
class Predictor {
 public:
  Predictor(Device& device, models::LanguageModel& trained)
      : device_(device), model_(trained.of_one_sequence(device)) {
    CommandQueue& queue = device.command_queue(0);
    const auto from = trained.parameters();
    const auto to = model_->parameters();
    for (std::size_t i = 0; i < to.size(); ++i) {
      autograd::write_values(queue, to[i]->value, autograd::read_values(queue, from[i]->value));
    }
  }

  /// Returns the logits of the character that follows `text`. If `text` is longer than the window,
  /// only its end is used.
  std::vector<float> logits(std::span<const std::uint32_t> text) {
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

/// Of characters, whose tokens count from 1.
void penalise(std::span<float> characters, std::span<const std::uint32_t> text, float penalty) {
  if (penalty == 1) return;
  for (const std::uint32_t token : std::set<std::uint32_t>(text.begin(), text.end())) {
    float& logit = characters[token - 1];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

}  // namespace

void require_valid(const Sampling& sampling) {
  const auto require = [](bool valid, const char* name, auto value, const char* accepted) {
    if (valid) return;
    throw Error({.attempted = "generate text",
                 .value = fmt::format("{} {}", name, value),
                 .accepted = accepted,
                 .hint = ""});
  };
  require(std::isfinite(sampling.temperature) && sampling.temperature >= 0, "temperature",
          sampling.temperature, "0 or more");
  require(sampling.top_k >= 0, "top-k", sampling.top_k, "0 (off) or more");
  require(sampling.repetition_penalty > 0, "repetition-penalty", sampling.repetition_penalty,
          "above 0");
  require(sampling.top_p > 0 && sampling.top_p <= 1, "top-p", sampling.top_p, "above 0, up to 1");
}

std::size_t pick(std::span<const float> logits, const Sampling& sampling, double draw) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return logits[i]; });
  if (sampling.temperature == 0) return order.front();
  if (sampling.top_k > 0) {
    order.resize(std::min(order.size(), static_cast<std::size_t>(sampling.top_k)));
  }
  std::vector<double> weights;
  double total = 0;
  for (const std::size_t i : order) {
    weights.push_back(std::exp((double{logits[i]} - double{logits[order.front()]}) /
                               double{sampling.temperature}));
    total += weights.back();
  }
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() && kept < double{sampling.top_p} * total) kept += weights[count++];
  double left = draw * kept;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    left -= weights[i];
    if (left < 0) return order[i];
  }
  return order[count - 1];
}

std::string generate(Device& device, models::LanguageModel& model, const Tokenizer& tokenizer,
                     std::string_view prompt, std::int64_t count, const Sampling& sampling,
                     const std::function<bool()>& stop) {
  require_valid(sampling);
  std::vector<std::uint32_t> text = tokenizer.encode(prompt);
  if (text.empty()) {
    throw Error({.attempted = "generate text",
                 .value = "an empty prompt",
                 .accepted = "one character or more",
                 .hint = ""});
  }
  const std::size_t prompted = text.size();
  Predictor reader(device, model);
  std::mt19937 random(sampling.seed);
  for (std::int64_t i = 0; i < count && !(stop && stop()); ++i) {
    std::vector<float> logits = reader.logits(text);
    // Padding and marks never occur in the text, and are never written.
    const auto characters = std::span(logits).subspan(1, tokenizer.characters().size());
    penalise(characters, text, sampling.repetition_penalty);
    const double draw = static_cast<double>(random()) / 4294967296.0;
    text.push_back(static_cast<std::uint32_t>(pick(characters, sampling, draw) + 1));
  }
  return tokenizer.decode(std::span(text).subspan(prompted));
}

}  // namespace howard::training
