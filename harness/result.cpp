// SPDX-License-Identifier: Apache-2.0
#include "harness/result.h"

#include <algorithm>

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
