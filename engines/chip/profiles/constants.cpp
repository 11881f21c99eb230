// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/chip/profiles/profiles.h"

namespace howard::chip {
namespace {

[[noreturn]] void refuse_profile(std::string_view origin, std::string value, std::string accepted,
                                 std::string hint = "") {
  throw Error({.attempted = "read profile " + std::string(origin),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

JsonDocument parse_document(std::string_view text, std::string_view origin) {
  return JsonDocument(
      text, {.attempted = "read profile " + std::string(origin),
             .accepted = fmt::format("a JSON object with \"schema\": \"{}\"", kProfileSchema)});
}

std::array<double, 2> read_bounds(const JsonNode& node) {
  const std::vector<double> ends = node.numbers();
  if (ends.size() != 2 || !(ends[0] > 0) || !(ends[0] < ends[1])) {
    node.fail("[LEAST, MOST], two positive numbers in the constant's unit, the smaller one first");
  }
  return {ends[0], ends[1]};
}

constexpr std::tuple kConstantFields{
    json_field("value", &Constant::value),
    json_field("unit", &Constant::unit, &JsonNode::filled_text),
    json_field("meaning", &Constant::meaning, &JsonNode::filled_text),
    json_field("source", &Constant::source, &JsonNode::filled_text),
    optional_field("bounds", &Constant::bounds, read_bounds),
};

Constant read_constant(const JsonNode& node) {
  Constant constant;
  node.read(constant, kConstantFields);
  if (constant.bounds && !constant.is_calibrated()) {
    node.fail("no \"bounds\", or a source that begins with \"calibrated on\"");
  }
  if (constant.bounds &&
      (constant.value < constant.bounds->front() || constant.value > constant.bounds->back())) {
    node.fail("a value within its \"bounds\"");
  }
  return constant;
}

}  // namespace

std::string profile_kind(std::string_view text, std::string_view origin) {
  const JsonDocument document = parse_document(text, origin);
  document.root().require_schema(kProfileSchema);
  return document.root().member("kind").text();
}

Constants Constants::parse(std::string_view text, std::string_view origin, std::string_view kind) {
  const JsonDocument document = parse_document(text, origin);
  const JsonNode root = document.root();
  root.require_schema(kProfileSchema);
  root.member("kind").word({kind});
  Constants result;
  if (root.has("extends")) {
    const std::string base = root.member("extends").filled_text();
    result = parse(built_in_profile(base), base, kind);
  }
  const std::vector<std::string> all = built_in_profiles();
  const std::string own(origin);
  if (std::ranges::find(all, own) != all.end() && built_in_profile(own) == text) {
    result.built_in_ = own;
  }
  result.name_ = root.member("name").filled_text();
  result.origin_ = origin;
  result.kind_ = kind;
  if (root.has("architecture")) result.architecture_ = root.member("architecture").filled_text();
  for (const auto& [name, constant] : root.member("constants").members()) {
    result.put(name, read_constant(constant));
  }
  return result;
}

std::vector<std::string> Constants::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const Entry& entry : entries_) names.emplace_back(entry.name());
  return names;
}

const Constant& Constants::at(std::string_view name) const {
  const Entry* const found = find(name);
  HOWARD_CHECK(found != nullptr, "a constant is asked for by a name of names()");
  return found->constant->second;
}

const Constants::Entry* Constants::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &Entry::name);
  return found != entries_.end() && found->name() == name ? &*found : nullptr;
}

void Constants::put(std::string name, Constant constant) {
  const auto place = std::ranges::lower_bound(entries_, std::string_view(name), {}, &Entry::name);
  Entry entry{std::make_shared<const std::pair<const std::string, Constant>>(std::move(name),
                                                                             std::move(constant))};
  if (place != entries_.end() && place->name() == entry.name()) {
    *place = std::move(entry);
  } else {
    entries_.insert(place, std::move(entry));
  }
}

void Constants::calibrate(std::string_view name, double value, std::string_view source) {
  Constant constant = at(name);
  HOWARD_CHECK(constant.bounds, "only bounds let a value move");
  const auto [least, most] = *constant.bounds;
  HOWARD_CHECK(value >= least && value <= most, "a calibrated value is within its bounds");
  constant.value = value;
  if (!source.empty()) constant.source = source;
  put(std::string(name), std::move(constant));
}

std::string Constants::to_json() const {
  using nlohmann::ordered_json;
  std::string text =
      fmt::format("{{\n  \"schema\": \"{}\",\n  \"name\": {},\n  \"kind\": \"{}\",\n",
                  kProfileSchema, json_dump(ordered_json(name_)), kind_);
  if (!built_in_.empty()) {
    text += fmt::format("  \"extends\": {},\n", json_dump(ordered_json(built_in_)));
  }
  if (!architecture_.empty()) {
    text += fmt::format("  \"architecture\": {},\n", json_dump(ordered_json(architecture_)));
  }
  text += "  \"constants\": {";
  for (const Entry& held : entries_) {
    const auto& [name, constant] = *held.constant;
    ordered_json entry{{"value", constant.value}, {"unit", constant.unit}};
    if (constant.bounds) entry["bounds"] = *constant.bounds;
    entry["meaning"] = constant.meaning;
    entry["source"] = constant.source;
    text += fmt::format("{}\n    {}: {}", text.back() == '{' ? "" : ",",
                        json_dump(ordered_json(name)), json_dump(entry));
  }
  return text + "\n  }\n}\n";
}

void Constants::rebase(const Constants& from, const Constants& to) {
  built_in_ = to.built_in_;
  for (Entry& entry : entries_) {
    const Entry* const before = from.find(entry.name());
    const Entry* const after = to.find(entry.name());
    const bool is_as_before =
        before != nullptr && before->constant->second == entry.constant->second;
    if (is_as_before && after != nullptr) entry.constant = after->constant;
  }
}

std::size_t number_end(std::string_view quantity) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t size = quantity.size();
  const std::size_t end = std::min(quantity.find_first_not_of("0123456789.+-"), size);
  if (end == size || (quantity[end] != 'e' && quantity[end] != 'E')) return end;
  std::size_t power = end + 1;
  if (power < size && (quantity[power] == '+' || quantity[power] == '-')) ++power;
  const std::size_t after = std::min(quantity.find_first_not_of(kDigits, power), size);
  return after > power ? after : end;
}

void Constants::set(std::string_view name, std::string_view quantity) {
  const std::size_t end = number_end(quantity);
  const auto value = parse_number(quantity.substr(0, end));
  const std::size_t unit = quantity.find_first_not_of(' ', end);
  if (!value || unit == std::string_view::npos) {
    throw Error({.attempted = "set constant " + std::string(name),
                 .value = "'" + std::string(quantity) + "'",
                 .accepted = "a number and its unit",
                 .hint = fmt::format("{}={}{}", name, at(name).value, at(name).unit)});
  }
  Constant constant = at(name);
  constant.value = *value;
  constant.unit = quantity.substr(unit);
  constant.source = "set by the user";
  constant.bounds.reset();
  put(std::string(name), std::move(constant));
  name_ += fmt::format(" with {}={}", name, quantity);
}

const Constant& Constants::take(std::string_view name) {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &Entry::name);
  if (found == entries_.end() || found->name() != name) {
    refuse_profile(
        origin_, fmt::format("constant {} is missing", name), "every constant of the profile",
        fmt::format("to add it, or \"extends\": \"{}\" to start from the built-in profile",
                    kind_ == "software" ? kDefaultSoftwareProfile : kDefaultChipProfile));
  }
  found->read = true;
  return found->constant->second;
}

double Constants::scaled(std::string_view name, std::string_view what,
                         std::span<const Unit> units) {
  const Constant& constant = take(name);
  const auto unit = std::ranges::find(units, constant.unit, &Unit::name);
  if (unit == units.end()) {
    std::vector<std::string> known;
    for (const Unit& each : units) known.emplace_back(each.name);
    std::ranges::sort(known);
    refuse_profile(origin_, fmt::format("constant {} has unit '{}'", name, constant.unit),
                   fmt::format("a {} in {}", what, join(known, ", ")));
  }
  const double value = constant.value * unit->factor;
  if (!(value >= 0) || value > 9e18) {
    refuse_profile(origin_,
                   fmt::format("constant {} is {} {}", name, constant.value, constant.unit),
                   fmt::format("a {} that is not negative and fits 64 bits", what));
  }
  return value;
}

SimTime Constants::whole_time(std::string_view name, std::span<const Unit> units) {
  const double picoseconds = scaled(name, "time", units);
  if (picoseconds > 0 && picoseconds < 0.5) {
    refuse_profile(origin_, fmt::format("constant {} is {} ps", name, picoseconds),
                   "0, or a time of 1 ps or more: the clock counts picoseconds");
  }
  return SimTime::picoseconds(std::llround(picoseconds));
}

SimTime Constants::time(std::string_view name, Frequency clock) {
  const double cycle = 1e12 / static_cast<double>(clock.value());
  const std::array<Unit, 6> units{
      {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}, {"cycles", cycle}}};
  return whole_time(name, units);
}

SimTime Constants::time(std::string_view name) {
  const std::array<Unit, 5> units{{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};
  return whole_time(name, units);
}

Bandwidth Constants::positive_bandwidth(std::string_view name, std::span<const Unit> units) {
  const Bandwidth rate(std::llround(scaled(name, "bandwidth", units)));
  if (rate.value() < 1)
    refuse_profile(origin_, fmt::format("constant {} is zero", name), "a positive bandwidth");
  return rate;
}

std::vector<Constants::Unit> Constants::rates(Frequency clock) {
  const auto cycle = static_cast<double>(clock.value());
  return {{"B/s", 1},
          {"KB/s", 1e3},
          {"MB/s", 1e6},
          {"GB/s", 1e9},
          {"TB/s", 1e12},
          {"B/cycle", cycle},
          {"KB/cycle", 1e3 * cycle}};
}

Bandwidth Constants::bandwidth(std::string_view name, Frequency clock) {
  return positive_bandwidth(name, rates(clock));
}

Bandwidth Constants::share(std::string_view name, std::string_view whole, Frequency clock) {
  const double percent = static_cast<double>(bandwidth(whole, clock).value()) / 100;
  std::vector<Unit> units = rates(clock);
  units.push_back({"%", percent});
  return positive_bandwidth(name, units);
}

Frequency Constants::frequency(std::string_view name) {
  constexpr std::array<Unit, 4> kUnits{{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}};
  const Frequency rate(std::llround(scaled(name, "frequency", kUnits)));
  if (rate.value() < 1)
    refuse_profile(origin_, fmt::format("constant {} is zero", name), "a positive frequency");
  return rate;
}

Bytes Constants::bytes(std::string_view name) {
  constexpr std::array<Unit, 7> kUnits{{{"B", 1},
                                        {"KB", 1e3},
                                        {"MB", 1e6},
                                        {"GB", 1e9},
                                        {"KiB", 1024.0},
                                        {"MiB", 1048576.0},
                                        {"GiB", 1073741824.0}}};
  return Bytes(std::llround(scaled(name, "size", kUnits)));
}

std::int64_t Constants::power(std::string_view name) {
  constexpr std::array<Unit, 2> kUnits{{{"W", 1e3}, {"mW", 1}}};
  return std::llround(scaled(name, "power", kUnits));
}

int Constants::count(std::string_view name) {
  constexpr std::array<Unit, 1> kCount{{{"count", 1}}};
  const double value = scaled(name, "count", kCount);
  if (value < 1 || value > 65535 || value != std::floor(value)) {
    refuse_profile(origin_, fmt::format("constant {} is {}", name, value),
                   "a whole number from 1 to 65535");
  }
  return static_cast<int>(value);
}

std::int64_t Constants::part(std::string_view name) {
  constexpr std::array<Unit, 1> kTenThousandths{{{"%", 100}}};
  const double value = scaled(name, "part", kTenThousandths);
  if (value > 1e6) {
    refuse_profile(origin_, fmt::format("constant {} is {}", name, value / 100), "at most 10000 %");
  }
  return std::llround(value);
}

bool Constants::flag(std::string_view name) {
  constexpr std::array<Unit, 1> kCount{{{"count", 1}}};
  const double value = scaled(name, "count", kCount);
  if (value != 0 && value != 1) {
    refuse_profile(origin_, fmt::format("constant {} is {}", name, value), "0 (no) or 1 (yes)");
  }
  return value == 1;
}

void Constants::require_all_read() const {
  for (const Entry& entry : entries_) {
    if (entry.read) continue;
    std::vector<std::string> known;
    for (const Entry& other : entries_) {
      if (other.read) known.emplace_back(other.name());
    }
    const std::string_view renamed = renamed_constant(entry.name());
    const auto suggestion = closest(entry.name(), known);
    refuse_profile(origin_, fmt::format("unknown constant {}", entry.name()),
                   "the names of the built-in profiles",
                   !renamed.empty() ? fmt::format("\"{}\", as it is called now", renamed)
                   : suggestion     ? "\"" + *suggestion + "\""
                                    : "");
  }
}

std::string_view renamed_constant(std::string_view name) {
  return name == "matmul.read_issue" ? "noc.read_issue" : "";
}

}  // namespace howard::chip
