// SPDX-License-Identifier: Apache-2.0
#include "harness/result.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace howard::harness {

std::string_view name_of(Backend backend) {
  switch (backend) {
    case Backend::emulated:
      return "emulated";
    case Backend::host:
      return "host";
    case Backend::log:
      return "log";
  }
  return "";
}

std::optional<std::string_view> find_parameter(const Parameters& parameters,
                                               std::string_view axis) {
  const auto found = std::ranges::find(
      parameters, axis, [](const auto& entry) -> std::string_view { return entry.first; });
  if (found == parameters.end()) return std::nullopt;
  return found->second;
}

namespace {

std::string same(const std::string& words) { return words; }

constexpr std::string_view kFits = "yes";
constexpr std::string_view kErrorMetric = "expected_error";
constexpr std::string_view kKnown = "known";

}  // namespace

const Fact<std::string> kBoundBy{"bound_by", same, same};
const Fact<std::string> kSlowestProduct{"slowest_product", same, same};
const Fact<std::string> kTimed{"timed", same, same};
const Fact<std::string> kShortage{
    "fits",
    [](const std::string& shortage) { return shortage.empty() ? std::string(kFits) : shortage; },
    [](const std::string& words) { return words == kFits ? "" : words; }};
const Fact<std::int64_t> kStepsDone{
    "steps_done", [](const std::int64_t& steps) { return std::to_string(steps); },
    [](const std::string& words) { return parse_integer(words).value_or(0); }};

void PointResult::add(ExpectedError error) {
  metrics.push_back({.name = std::string(kErrorMetric), .value = error.share, .unit = "1"});
  details.emplace_back(kKnown, std::move(error.known));
}

std::optional<ExpectedError> PointResult::expected_error() const {
  const Metric* const share = find_metric(kErrorMetric);
  const std::string* const known = find_detail(kKnown);
  if (share == nullptr || known == nullptr) return std::nullopt;
  return ExpectedError{.share = share->value, .known = *known};
}

std::string name_of(CommandResult result) {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 15> kNames{
      "train",          "generate",     "explain",      "tune",      "compare_emulated",
      "log_difference", "log_devices",  "log_ops",      "log_gaps",  "log_sections",
      "log_zones",      "log_host_ops", "log_programs", "log_calls", "log_advice"};
  return std::string(kNames.at(static_cast<std::size_t>(result)));
}

std::string PointResult::id() const {
  std::string id(name_of(backend));
  for (const auto& [axis, value] : parameters) id += "/" + axis + ":" + value;
  return id;
}

const Metric* PointResult::find_metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

const std::string* PointResult::find_detail(std::string_view name) const {
  const auto found = std::ranges::find(
      details, name, [](const auto& entry) -> std::string_view { return entry.first; });
  return found == details.end() ? nullptr : &found->second;
}

std::optional<double> PointResult::relative_error() const {
  // A reference without unit is itself a difference, and a smaller one than published is no error.
  if (!reference || reference->unit.empty()) return std::nullopt;
  const Metric* metric = find_metric(reference->metric);
  if (metric == nullptr || reference->value == 0) return std::nullopt;
  return metric->value / reference->value - 1;
}

namespace {
constexpr std::string_view kWith = " with ";
}

std::string ProfileName::text() const {
  std::string text = profile;
  for (const std::string& setting : settings) text.append(kWith).append(setting);
  return text;
}

ProfileName ProfileName::read(std::string_view text) {
  ProfileName name;
  std::size_t end = text.find(kWith);
  name.profile = text.substr(0, end);
  while (end != std::string_view::npos) {
    text.remove_prefix(end + kWith.size());
    end = text.find(kWith);
    name.settings.emplace_back(text.substr(0, end));
  }
  return name;
}

}  // namespace howard::harness
