// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/format.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "harness/statistics.h"

namespace howard::reports {
namespace {

struct Prefix {
  int exponent;
  std::string_view symbol;
};

constexpr std::array<Prefix, 11> kPrefixes{{{-15, "f"},
                                            {-12, "p"},
                                            {-9, "n"},
                                            {-6, "u"},
                                            {-3, "m"},
                                            {0, ""},
                                            {3, "k"},
                                            {6, "M"},
                                            {9, "G"},
                                            {12, "T"},
                                            {15, "P"}}};

/// Returns the prefix for numbers of about ten to the power of `magnitude`.
const Prefix& prefix_of(double magnitude, std::string_view unit) {
  const Prefix* best = &kPrefixes.front();
  for (const Prefix& prefix : kPrefixes) {
    // Times above a second are read in seconds.
    if (unit == "s" && prefix.exponent > 0) break;
    if (magnitude >= prefix.exponent) best = &prefix;
  }
  return *best;
}

/// Prefixes are for quantities that are measured. What is counted ("chips", "layers") has none:
/// half a chip is not 500 mchips.
bool takes_prefix(std::string_view unit) {
  return unit == "s" || unit == "B" || unit == "FLOP" || unit.starts_with("B/") ||
         unit.starts_with("FLOP/");
}

std::string unit_name(std::string_view prefix, std::string_view unit) {
  if (unit == "FLOP/s") return fmt::format("{}FLOPS", prefix);
  return fmt::format("{}{}", prefix, unit);
}

}  // namespace

Scale fit_scale(std::string_view unit, std::span<const double> values) {
  std::vector<double> magnitudes;  // as powers of ten, so that the middle of two is fair to both
  for (const double value : values) {
    HOWARD_CHECK(std::isfinite(value), "a reported number is finite");
    if (value != 0) magnitudes.push_back(std::log10(std::abs(value)));
  }
  if (unit.empty()) return {.exponent = 0, .unit = "", .decimals = 5};
  if (unit == "1") return {.exponent = -2, .unit = "%", .decimals = 1};
  if (magnitudes.empty()) return {.exponent = 0, .unit = unit_name("", unit), .decimals = 0};

  if (!takes_prefix(unit)) {
    const bool whole =
        std::ranges::all_of(values, [](double value) { return value == std::floor(value); });
    return {.exponent = 0, .unit = std::string(unit), .decimals = whole ? 0 : 3};
  }
  const Prefix& prefix = prefix_of(*harness::median(magnitudes), unit);
  Scale scale{.exponent = prefix.exponent, .unit = unit_name(prefix.symbol, unit)};
  const double least = *std::ranges::min_element(magnitudes) - prefix.exponent;
  scale.decimals = std::clamp(3 - static_cast<int>(std::floor(least)), 0, 3);
  return scale;
}

double in_unit(double value, const Scale& scale) {
  // Powers of ten with a positive exponent are exact, so 40.3e9 shows as 40.3.
  return scale.exponent < 0 ? value * std::pow(10, -scale.exponent)
                            : value / std::pow(10, scale.exponent);
}

std::string format_number(double value, const Scale& scale) {
  HOWARD_CHECK(std::isfinite(value), "a reported number is finite");
  const double shown = in_unit(value, scale);
  const double magnitude = std::abs(shown);
  const bool vanishes = value != 0 && magnitude < 0.5 * std::pow(10, -scale.decimals);
  if (vanishes) return fmt::format("{:.1g}", shown);
  if (magnitude >= 1e9) return fmt::format("{:.3g}", shown);
  return fmt::format("{:.{}f}", value == 0 ? 0.0 : shown, scale.decimals);
}

std::string format_quantity(double value, std::string_view unit) {
  const Scale scale = fit_scale(unit, {&value, 1});
  const std::string number = format_number(value, scale);
  return scale.unit.empty() ? number : number + " " + scale.unit;
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string with_unit(std::string_view title, std::string_view unit) {
  return unit.empty() ? std::string(title) : fmt::format("{} ({})", title, unit);
}

std::string format_error(double relative_error) {
  HOWARD_CHECK(std::isfinite(relative_error), "a reported number is finite");
  const std::string text = fmt::format("{:+.1f}", relative_error * 100);
  // A sign on an error that rounds to nothing would claim a direction.
  return text == "+0.0" || text == "-0.0" ? "0.0" : text;
}

std::string format_exact(double value) {
  HOWARD_CHECK(std::isfinite(value), "a reported number is finite");
  return fmt::format("{}", value);
}

}  // namespace howard::reports
