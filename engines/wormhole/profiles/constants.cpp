// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/profiles/constants.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/json_depth.h"
#include "base/text.h"
#include "engines/wormhole/profiles/profiles.h"

namespace howard::wormhole {
namespace {

using nlohmann::json;
using Scale = std::map<std::string, double, std::less<>>;

constexpr std::string_view kSchema = "howard.profile/1";

const Scale kPicosecondsPer{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}};
const Scale kBytesPer{{"B", 1},        {"KB", 1e3},        {"MB", 1e6},          {"GB", 1e9},
                      {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
const Scale kBytesPerSecondPer{{"B/s", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}};
const Scale kHertzPer{{"Hz", 1}, {"MHz", 1e6}, {"GHz", 1e9}};
const Scale kCountPer{{"count", 1}};
const Scale kPartsPer{{"%", 100}};  // ten-thousandths

[[noreturn]] void refuse_profile(std::string_view origin, std::string value, std::string accepted,
                                 std::string hint = "") {
  throw Error({.attempted = "read profile " + std::string(origin),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

json parse_document(std::string_view text, std::string_view origin) {
  require_json_depth(text, "read profile " + std::string(origin));
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& failure) {
    refuse_profile(origin, json_failure(failure.what()), "a JSON object");
  }
  if (!document.is_object() || document.value("schema", json()) != kSchema) {
    refuse_profile(origin, "it is not a profile",
                   fmt::format("a JSON object with \"schema\": \"{}\"", kSchema));
  }
  return document;
}

std::string text_field(const json& object, const char* key, std::string_view origin,
                       std::string_view where) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string() ||
      found->get_ref<const std::string&>().empty()) {
    refuse_profile(origin, fmt::format("{} lacks \"{}\"", where, key), "a non-empty text");
  }
  return found->get<std::string>();
}

std::optional<std::array<double, 2>> parse_bounds(const std::string& name, const json& entry,
                                                  const Constant& constant,
                                                  std::string_view origin) {
  const auto found = entry.find("bounds");
  if (found == entry.end()) return std::nullopt;
  const json& bounds = *found;
  if (!constant.is_calibrated()) {
    refuse_profile(origin, fmt::format("constant {} has \"bounds\" but is not calibrated", name),
                   "bounds of constants whose source begins with \"calibrated on\"");
  }
  if (!bounds.is_array() || bounds.size() != 2 || !bounds[0].is_number() ||
      !bounds[1].is_number() || !(bounds[0].get<double>() > 0) ||
      !(bounds[0].get<double>() < bounds[1].get<double>())) {
    refuse_profile(
        origin, fmt::format("constant {} has bounds {}", name, bounds.dump()),
        "[LEAST, MOST], two positive numbers in the constant's unit, the smaller one first");
  }
  const std::array<double, 2> result{bounds[0].get<double>(), bounds[1].get<double>()};
  if (constant.value < result[0] || constant.value > result[1]) {
    refuse_profile(origin,
                   fmt::format("constant {} is {}, outside its bounds {}", name, constant.value,
                               bounds.dump()),
                   "bounds around the value");
  }
  return result;
}

Constant parse_constant(const std::string& name, const json& entry, std::string_view origin) {
  if (!entry.is_object() || !entry.contains("value") || !entry["value"].is_number()) {
    refuse_profile(origin, fmt::format("constant {} has no numeric \"value\"", name),
                   R"({"value": number, "unit": text, "meaning": text, "source": text})");
  }
  Constant constant{.value = entry["value"].get<double>(),
                    .unit = text_field(entry, "unit", origin, "constant " + name),
                    .meaning = text_field(entry, "meaning", origin, "constant " + name),
                    .source = text_field(entry, "source", origin, "constant " + name)};
  constant.bounds = parse_bounds(name, entry, constant, origin);
  return constant;
}

Scale bandwidth_scale(Frequency clock) {
  Scale scale = kBytesPerSecondPer;
  scale.emplace("B/cycle", static_cast<double>(clock.value()));
  return scale;
}

std::string list_units(const Scale& scale) {
  std::vector<std::string> units;
  for (const auto& [unit, factor] : scale) units.push_back(unit);
  return join(units, ", ");
}

}  // namespace

std::string profile_kind(std::string_view text, std::string_view origin) {
  return text_field(parse_document(text, origin), "kind", origin, "the profile");
}

Constants Constants::parse(std::string_view text, std::string_view origin, std::string_view kind) {
  const json document = parse_document(text, origin);
  if (text_field(document, "kind", origin, "the profile") != kind) {
    refuse_profile(origin, fmt::format("it is not a {} profile", kind),
                   fmt::format("\"kind\": \"{}\"", kind));
  }
  Constants result;
  if (document.contains("extends")) {
    const std::string base = text_field(document, "extends", origin, "the profile");
    result = parse(built_in_profile(base), base, kind);
  }
  result.name_ = text_field(document, "name", origin, "the profile");
  result.origin_ = origin;
  result.kind_ = kind;
  const auto constants = document.find("constants");
  if (constants == document.end() || !constants->is_object()) {
    refuse_profile(origin, "it has no \"constants\"", "an object of constants by name");
  }
  for (const auto& [name, entry] : constants->items()) {
    result.constants_.insert_or_assign(name, parse_constant(name, entry, origin));
  }
  return result;
}

std::vector<std::string> Constants::names() const {
  std::vector<std::string> names;
  names.reserve(constants_.size());
  for (const auto& [name, constant] : constants_) names.push_back(name);
  return names;
}

const Constant& Constants::at(std::string_view name) const {
  const auto found = constants_.find(name);
  HOWARD_CHECK(found != constants_.end(), "a constant is asked for by a name of names()");
  return found->second;
}

void Constants::calibrate(std::string_view name, double value, std::string_view source) {
  const auto found = constants_.find(name);
  HOWARD_CHECK(found != constants_.end() && found->second.bounds, "only bounds let a value move");
  const auto [least, most] = *found->second.bounds;
  HOWARD_CHECK(value >= least && value <= most, "a calibrated value is within its bounds");
  found->second.value = value;
  if (!source.empty()) found->second.source = source;
}

std::string Constants::to_json() const {
  using nlohmann::ordered_json;
  std::string text =
      fmt::format("{{\n  \"schema\": \"{}\",\n  \"name\": {},\n  \"kind\": \"{}\",\n", kSchema,
                  ordered_json(name_).dump(), kind_);
  text += "  \"constants\": {";
  for (const auto& [name, constant] : constants_) {
    ordered_json entry{{"value", constant.value}, {"unit", constant.unit}};
    if (constant.bounds) entry["bounds"] = *constant.bounds;
    entry["meaning"] = constant.meaning;
    entry["source"] = constant.source;
    text += fmt::format("{}\n    {}: {}", text.back() == '{' ? "" : ",", ordered_json(name).dump(),
                        entry.dump());
  }
  return text + "\n  }\n}\n";
}

void Constants::set(std::string_view name, std::string_view quantity) {
  const std::size_t end = quantity.find_first_not_of("0123456789.+-");
  const auto value = parse_number(quantity.substr(0, end));
  const std::size_t unit =
      end == std::string_view::npos ? end : quantity.find_first_not_of(' ', end);
  if (!value || unit == std::string_view::npos) {
    throw Error({.attempted = "set constant " + std::string(name),
                 .value = "'" + std::string(quantity) + "'",
                 .accepted = "a number and its unit",
                 .hint = fmt::format("{}={}{}", name, constants_.at(std::string(name)).value,
                                     constants_.at(std::string(name)).unit)});
  }
  Constant& constant = constants_.at(std::string(name));
  constant.value = *value;
  constant.unit = quantity.substr(unit);
  constant.source = "set by the user";
  constant.bounds.reset();
  name_ += fmt::format(" with {}={}", name, quantity);
}

const Constant& Constants::take(std::string_view name) {
  const auto found = constants_.find(name);
  if (found == constants_.end()) {
    refuse_profile(
        origin_, fmt::format("constant {} is missing", name), "every constant of the profile",
        fmt::format("to add it, or \"extends\": \"{}\" to start from the built-in profile",
                    kind_ == "software" ? kDefaultSoftwareProfile : kDefaultChipProfile));
  }
  read_.emplace(name);
  return found->second;
}

double Constants::scaled(std::string_view name, std::string_view what, const Scale& scale) {
  const Constant& constant = take(name);
  const auto unit = scale.find(constant.unit);
  if (unit == scale.end()) {
    refuse_profile(origin_, fmt::format("constant {} has unit '{}'", name, constant.unit),
                   fmt::format("a {} in {}", what, list_units(scale)));
  }
  const double value = constant.value * unit->second;
  if (!(value >= 0) || value > 9e18) {
    refuse_profile(origin_,
                   fmt::format("constant {} is {} {}", name, constant.value, constant.unit),
                   fmt::format("a {} that is not negative and fits 64 bits", what));
  }
  return value;
}

SimTime Constants::time(std::string_view name, Frequency clock) {
  Scale scale = kPicosecondsPer;
  scale.emplace("cycles", 1e12 / static_cast<double>(clock.value()));
  return SimTime::picoseconds(std::llround(scaled(name, "time", scale)));
}

SimTime Constants::time(std::string_view name) {
  return SimTime::picoseconds(std::llround(scaled(name, "time", kPicosecondsPer)));
}

Bandwidth Constants::positive_bandwidth(std::string_view name, const Scale& scale) {
  const Bandwidth rate(std::llround(scaled(name, "bandwidth", scale)));
  if (rate.value() < 1)
    refuse_profile(origin_, fmt::format("constant {} is zero", name), "a positive bandwidth");
  return rate;
}

Bandwidth Constants::bandwidth(std::string_view name, Frequency clock) {
  return positive_bandwidth(name, bandwidth_scale(clock));
}

Bandwidth Constants::share(std::string_view name, std::string_view whole, Frequency clock) {
  Scale scale = bandwidth_scale(clock);
  scale.emplace("%", static_cast<double>(bandwidth(whole, clock).value()) / 100);
  return positive_bandwidth(name, scale);
}

Frequency Constants::frequency(std::string_view name) {
  const Frequency rate(std::llround(scaled(name, "frequency", kHertzPer)));
  if (rate.value() < 1)
    refuse_profile(origin_, fmt::format("constant {} is zero", name), "a positive frequency");
  return rate;
}

Bytes Constants::bytes(std::string_view name) {
  return Bytes(std::llround(scaled(name, "size", kBytesPer)));
}

int Constants::count(std::string_view name) {
  const double value = scaled(name, "count", kCountPer);
  if (value < 1 || value > 65535 || value != std::floor(value)) {
    refuse_profile(origin_, fmt::format("constant {} is {}", name, value),
                   "a whole number from 1 to 65535");
  }
  return static_cast<int>(value);
}

std::int64_t Constants::part(std::string_view name) {
  const double value = scaled(name, "part", kPartsPer);
  if (value > 1e6) {
    refuse_profile(origin_, fmt::format("constant {} is {}", name, value / kPartsPer.at("%")),
                   "at most 10000 %");
  }
  return std::llround(value);
}

bool Constants::flag(std::string_view name) {
  const double value = scaled(name, "count", kCountPer);
  if (value != 0 && value != 1) {
    refuse_profile(origin_, fmt::format("constant {} is {}", name, value), "0 (no) or 1 (yes)");
  }
  return value == 1;
}

void Constants::require_all_read() const {
  std::vector<std::string> known(read_.begin(), read_.end());
  for (const auto& [name, constant] : constants_) {
    if (read_.contains(name)) continue;
    const auto suggestion = closest(name, known);
    refuse_profile(origin_, fmt::format("unknown constant {}", name),
                   "the names of the built-in profiles",
                   suggestion ? "\"" + *suggestion + "\"" : "");
  }
}

}  // namespace howard::wormhole
