// SPDX-License-Identifier: Apache-2.0
#include "engines/calibration/bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace howard::calibration {

// Compiled from bands.json by the build.
namespace embedded {
extern const std::string_view bands;
}  // namespace embedded

namespace {

constexpr std::array<Known, 3> kBestFirst{Known::calibrated, Known::interpolated,
                                          Known::by_analogy};

Known parse_known(const std::string& word) {
  const auto found =
      std::ranges::find(kBestFirst, word, [](Known known) { return name_of(known); });
  HOWARD_CHECK(found != kBestFirst.end(), "bands.json knows three kinds of knowledge");
  return *found;
}

std::vector<Band> parse_bands(std::string_view text) {
  std::vector<Band> bands;
  const auto document = nlohmann::json::parse(text);
  for (const nlohmann::json& entry : document.at("bands")) {
    bands.push_back({.name = entry.at("name"),
                     .known = parse_known(entry.at("known")),
                     .share = entry.at("band"),
                     .source = entry.at("source"),
                     .ops = entry.at("ops")});
  }
  return bands;
}

const Band& band_named(std::string_view name) {
  const auto found = std::ranges::find(built_in_bands(), name, &Band::name);
  HOWARD_CHECK(found != built_in_bands().end(), "bands.json has the bands that are asked for");
  return *found;
}

/// The rows behind the band of products are of one product each, on all cores, as they are stored.
bool is_of_few_rows(const wormhole::MatmulPlan& plan) {
  return plan.batch > 1 || plan.transposed_a || plan.transposed_b || plan.bias ||
         plan.kind == wormhole::MatmulKind::reuse;
}

}  // namespace

std::string_view name_of(Known known) {
  constexpr std::array<std::string_view, 3> kNames{"calibrated", "interpolated", "by analogy"};
  return kNames.at(static_cast<std::size_t>(known));
}

const std::vector<Band>& built_in_bands() {
  static const std::vector<Band> bands = parse_bands(embedded::bands);
  return bands;
}

const Band& band_of(const wormhole::PlannedProgram& planned) {
  if (planned.matmul && is_of_few_rows(*planned.matmul)) {
    return band_named("product of a kind with few rows");
  }
  for (const Band& band : built_in_bands()) {
    if (std::ranges::find(band.ops, planned.name) != band.ops.end()) return band;
  }
  return band_named("no row");
}

const Band& dispatch_band() { return band_named("dispatch"); }
const Band& host_band() { return band_named("host"); }

void KnownTime::add(SimTime part, const Band& band) {
  time_ += part;
  uncertain_ += part.seconds() * band.share;
  parts_.at(static_cast<std::size_t>(band.known)) += part.seconds();
}

double KnownTime::band() const { return time_ > SimTime() ? uncertain_ / time_.seconds() : 0; }

std::string KnownTime::text() const {
  constexpr double kLeast = 0.01;
  std::string text;
  for (const Known known : kBestFirst) {
    const double share =
        time_ > SimTime() ? parts_.at(static_cast<std::size_t>(known)) / time_.seconds() : 0;
    if (share < kLeast) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name_of(known), 100 * share);
  }
  return text;
}

}  // namespace howard::calibration
