// SPDX-License-Identifier: Apache-2.0
#include "engines/language/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"

namespace howard::language {
namespace {

void require_finite_logits(std::span<const float> logits) {
  if (std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); })) return;
  throw Error({.attempted = "generate text",
               .value = "logits that are not finite",
               .accepted = "finite ones",
               .hint = "other weights: some of these are not numbers, or too large"});
}

void penalise(std::span<float> logits, std::span<const std::uint32_t> text, float penalty) {
  if (penalty == 1) return;
  for (const std::uint32_t token : std::set<std::uint32_t>(text.begin(), text.end())) {
    float& logit = logits[token];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

}  // namespace

void require_valid(const Sampling& sampling) {
  const auto require = [](bool valid, const char* name, auto value, const char* accepted) {
    if (valid) return;
    throw Error({.attempted = "generate text",
                 .value = fmt::format("{} {}", name, value),
                 .accepted = accepted});
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

std::vector<std::uint32_t> continue_text(TextReader& reader, std::vector<std::uint32_t> text,
                                         std::int64_t count, const Sampling& sampling,
                                         const WrittenTokens& written,
                                         const std::function<bool()>& stop, const TokenSink& sink) {
  require_valid(sampling);
  const std::size_t prompted = text.size();
  std::mt19937 random(sampling.seed);
  for (std::int64_t i = 0; i < count && !(stop && stop()); ++i) {
    std::vector<float> logits = reader.logits(text);
    require_finite_logits(logits);
    penalise(logits, text, sampling.repetition_penalty);
    const double draw = static_cast<double>(random()) / 4294967296.0;
    const std::size_t end = std::min<std::size_t>(written.range.end, logits.size());
    const auto allowed = std::span(logits).first(end).subspan(written.range.first);
    text.push_back(written.range.first + static_cast<std::uint32_t>(pick(allowed, sampling, draw)));
    if (sink) sink(text.back());
    if (std::ranges::find(written.ends, text.back()) != written.ends.end()) break;
  }
  text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(prompted));
  return text;
}

std::string generate(TextReader& reader, const Tokenizer& tokenizer, std::string_view prompt,
                     std::int64_t count, const Sampling& sampling,
                     const std::function<bool()>& stop) {
  require_valid(sampling);
  std::vector<std::uint32_t> text = tokenizer.encode(prompt);
  if (text.empty()) {
    throw Error({.attempted = "generate text",
                 .value = "an empty prompt",
                 .accepted = "one token or more"});
  }
  return tokenizer.decode(continue_text(reader, std::move(text), count, sampling,
                                        {.range = tokenizer.written(), .ends = {}}, stop));
}

}  // namespace howard::language
