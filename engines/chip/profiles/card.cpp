// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_node.h"
#include "engines/chip/profiles/constants.h"
#include "engines/program/tensor_spec.h"

namespace howard::chip {
namespace {

constexpr double kLongest = 1e9;  ///< Microseconds: no kernel runs a quarter of an hour.
constexpr double kMostError = 100;

SimTime read_time(const JsonNode& node) {
  const double microseconds = node.positive();
  if (microseconds > kLongest) node.fail("the microseconds of a kernel");
  const auto time = SimTime::picoseconds(std::llround(microseconds * 1e6));
  if (time == SimTime()) node.fail("the microseconds of a kernel");
  return time;
}

double read_error(const JsonNode& node) {
  const double error = node.number();
  if (!(error >= 0 && error <= kMostError)) node.fail("a share from 0 to 100: 0.01 is 1 %");
  return error;
}

std::int64_t read_factor(const JsonNode& node) {
  constexpr double kMost = 1'000;
  const double factor = node.positive();
  if (factor > kMost || factor < 1 / kMost) node.fail("a factor from 0.001 to 1000");
  return std::llround(factor * static_cast<double>(CardKind::kOne));
}

std::int64_t read_runs(const JsonNode& node) { return node.integer(1); }

constexpr std::tuple kWordFields{
    json_field("op", &LaunchWords::op, &JsonNode::filled_text),
    json_field("in", &LaunchWords::in),
    json_field("out", &LaunchWords::out),
    json_field("told", &LaunchWords::told),
    json_field("grid", &LaunchWords::grid),
};

constexpr std::tuple kKernelFields{
    json_field("kind", &CardKernel::kind, &JsonNode::filled_text),
    json_field("us", &CardKernel::time, read_time),
    json_field("built_in_us", &CardKernel::built_in, read_time),
    json_field("runs", &CardKernel::runs, read_runs),
    json_field("error", &CardKernel::error, read_error),
    json_field("built_in_error", &CardKernel::built_in_error, read_error),
};

constexpr std::tuple kKindFields{
    json_field("kind", &CardKind::kind, &JsonNode::filled_text),
    json_field("factor", &CardKind::factor, read_factor),
    json_field("calls", &CardKind::calls, read_runs),
    json_field("built_in_error", &CardKind::built_in_error, read_error),
    json_field("error", &CardKind::error, read_error),
};

CardKernel read_kernel(const JsonNode& node) {
  CardKernel kernel;
  node.read(kernel.words, kWordFields);
  node.read(kernel, kKernelFields);
  return kernel;
}

constexpr std::tuple kCardFields{
    json_field("name", &Card::name, &JsonNode::filled_text),
    json_field("chip", &Card::chip, &JsonNode::filled_text),
    json_field("software", &Card::software, &JsonNode::filled_text),
    json_field("logs", &Card::logs),
    json_field("kernels", &Card::kernels, read_kernel),
    json_field("kinds", &Card::kinds, kKindFields),
};

[[noreturn]] void refuse_twice(std::string_view origin, const std::string& what) {
  throw Error({.attempted = fmt::format("read card {}", origin),
               .value = fmt::format("it has {} twice", what),
               .accepted = "each call and each kind once"});
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string quoted(const std::string& text) { return json_dump(nlohmann::ordered_json(text)); }

/// Returns "12.3455": microseconds to the picosecond.
std::string microseconds(SimTime time) {
  constexpr std::int64_t kPicoseconds = 1'000'000;
  std::string text = fmt::format("{}.{:06}", time.ps() / kPicoseconds, time.ps() % kPicoseconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string line_of(const CardKernel& kernel) {
  const LaunchWords& words = kernel.words;
  return fmt::format(
      R"({{"op": {}, "in": {}, "out": {}, "told": {}, "grid": {}, "kind": {}, "us": {}, )"
      R"("built_in_us": {}, "runs": {}, "error": {:.4f}, "built_in_error": {:.4f}}})",
      quoted(words.op), quoted(words.in), quoted(words.out), quoted(words.told), quoted(words.grid),
      quoted(kernel.kind), microseconds(kernel.time), microseconds(kernel.built_in), kernel.runs,
      kernel.error, kernel.built_in_error);
}

std::string line_of(const CardKind& kind) {
  return fmt::format(
      R"({{"kind": {}, "factor": {:.4f}, "calls": {}, "built_in_error": {:.4f}, "error": {:.4f}}})",
      quoted(kind.kind), static_cast<double>(kind.factor) / static_cast<double>(CardKind::kOne),
      kind.calls, kind.built_in_error, kind.error);
}

template <class Item>
std::string list_of(const std::vector<Item>& items) {
  std::string text = "[";
  for (const Item& item : items) {
    text += fmt::format("{}\n    {}", text.size() > 1 ? "," : "", line_of(item));
  }
  return text + (items.empty() ? "]" : "\n  ]");
}

}  // namespace

std::string_view name_of(Known known) {
  constexpr std::array<std::string_view, kAllKnown.size()> kNames{
      "measured by you", "learnt from your card", "calibrated", "interpolated", "one kernel",
      "by analogy"};
  return kNames.at(static_cast<std::size_t>(known));
}

Card Card::parse(std::string_view json, std::string_view origin) {
  const JsonDocument document(json, {.attempted = fmt::format("read card {}", origin),
                                     .accepted = "a file that `learn` writes",
                                     .hint = "run_experiment learn LOG.csv -o my_card.json"});
  const JsonNode root = document.root();
  root.require_schema(kProfileSchema);
  root.member("kind").word({"card"});
  Card card;
  root.read(card, kCardFields);
  std::ranges::sort(card.kernels, {}, &CardKernel::words);
  std::ranges::sort(card.kinds, {}, &CardKind::kind);
  const auto twice = std::ranges::adjacent_find(card.kernels, {}, &CardKernel::words);
  if (twice != card.kernels.end()) {
    refuse_twice(origin, fmt::format("{} of {}", twice->words.op, twice->words.in));
  }
  const auto kind_twice = std::ranges::adjacent_find(card.kinds, {}, &CardKind::kind);
  if (kind_twice != card.kinds.end()) refuse_twice(origin, kind_twice->kind);
  for (CardKernel& kernel : card.kernels) {
    kernel.band = {.name = fmt::format("measured by you ({})", counted(kernel.runs, "run")),
                   .known = Known::measured,
                   .share = kernel.error,
                   .source = card.name};
    CardShapes& shapes = card.shapes[shapes_of(kernel.words)];
    shapes.time += kernel.time;
    shapes.built_in += kernel.built_in;
    shapes.error += kernel.built_in_error;
    ++shapes.calls;
  }
  for (auto& [text, shapes] : card.shapes) {
    shapes.band = {
        .name = fmt::format("learnt from {} of these shapes", counted(shapes.calls, "call")),
        .known = Known::learnt,
        .share = shapes.error / static_cast<double>(shapes.calls),
        .source = card.name};
  }
  for (CardKind& kind : card.kinds) {
    kind.band = {.name = fmt::format("learnt from {} of your card", counted(kind.calls, "kernel")),
                 .known = Known::learnt,
                 .share = kind.error,
                 .source = card.name};
  }
  return card;
}

std::string Card::to_json() const {
  return fmt::format(
      "{{\n  \"schema\": \"{}\",\n  \"kind\": \"card\",\n  \"name\": {},\n  \"chip\": {},\n  "
      "\"software\": {},\n  \"logs\": {},\n  \"kernels\": {},\n  \"kinds\": {}\n}}\n",
      kProfileSchema, quoted(name), quoted(chip), quoted(software),
      json_dump(nlohmann::ordered_json(logs)), list_of(kernels), list_of(kinds));
}

const CardKernel* Card::find(const LaunchWords& words) const {
  const auto found = std::ranges::lower_bound(kernels, words, {}, &CardKernel::words);
  return found != kernels.end() && found->words == words ? &*found : nullptr;
}

std::string shapes_of(const LaunchWords& words) {
  std::string text = words.op + ": " + words.in + " > " + words.out;
  for (const DataType type : kDataTypes) {
    const std::string word = fmt::format(" {}", howard::name_of(type));
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
      text.erase(at, word.size());
    }
  }
  return text;
}

const CardShapes* Card::find_shapes(const LaunchWords& words) const {
  const auto found = shapes.find(shapes_of(words));
  return found != shapes.end() ? &found->second : nullptr;
}

const CardKind* Card::find(std::string_view kind) const {
  const auto found = std::ranges::lower_bound(kinds, kind, {}, &CardKind::kind);
  return found != kinds.end() && found->kind == kind ? &*found : nullptr;
}

const Card& kept_card(std::string_view json, const std::string& origin) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Card>, std::less<>> cards;
  const std::lock_guard lock(mutex);
  const auto known = cards.find(json);
  if (known != cards.end()) return *known->second;
  auto card = std::make_unique<const Card>(Card::parse(json, origin));
  return *cards.emplace(json, std::move(card)).first->second;
}

}  // namespace howard::chip
