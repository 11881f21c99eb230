// SPDX-License-Identifier: Apache-2.0
#include "reports/published/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json_node.h"
#include "reports/tables/columns.h"
#include "reports/tables/format.h"

namespace howard::reports {

namespace embedded {
extern const std::string_view claims;
}  // namespace embedded

namespace {

using harness::ExperimentResult;
using harness::PointResult;

constexpr std::string_view kClaimsSchema = "howard.claims/1";
constexpr double kEven = 0.10;
constexpr double kSame = 0.28;

constexpr std::tuple kPointMetricFields{
    json_field("experiment", &PointMetric::experiment),
    json_field("params", &PointMetric::parameters, &JsonNode::named_texts),
    json_field("metric", &PointMetric::metric),
};

constexpr std::tuple kQuotientFields{
    json_field("value", &Quotient::value, kPointMetricFields),
    optional_field("over", &Quotient::over, kPointMetricFields),
};

constexpr std::tuple kDoubtFields{
    json_field("verdict", &Doubt::verdict,
               [](const JsonNode& node) {
                 return node.word({"artefact", "another cause"}) == 0 ? ClaimVerdict::artefact
                                                                      : ClaimVerdict::another_cause;
               }),
    json_field("because", &Doubt::because),
    optional_field("at_least", &Doubt::least),
    optional_field("at_most", &Doubt::most),
};

constexpr std::tuple kClaimFields{
    json_field("name", &Claim::name),
    json_field("says", &Claim::says),
    json_field("published", &Claim::published, &JsonNode::positive),
};

Doubt read_doubt(const JsonNode& node) {
  Doubt doubt;
  node.read(doubt, kDoubtFields);
  node.read(doubt.measured, kQuotientFields);
  if (doubt.least.has_value() == doubt.most.has_value()) {
    node.fail("one of \"at_least\" and \"at_most\"");
  }
  return doubt;
}

Claim read_claim(const JsonNode& node) {
  Claim claim;
  node.read(claim, kClaimFields);
  node.read(claim.measured, kQuotientFields);
  node.member("doubts").read(claim.doubts, read_doubt);
  return claim;
}

/// Holds a number of a run and its origin.
struct Found {
  double value = 0;
  std::string text;          ///< "time 1.97 ms at matmul_sweep/emulated/shape:...".
  std::string published_at;  ///< The point whose published figure it is; empty if a run made it.
};

/// The claims are about the chip that the report measured.
bool is_of_the_chip(const ExperimentResult& result, const PointResult& point) {
  return point.backend == harness::Backend::emulated && result.context.published_chip &&
         !point.own_chip;
}

bool has_parameters(const PointResult& point, const harness::Parameters& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    return harness::find_parameter(point.parameters, entry.first) == entry.second;
  });
}

/// Returns "gap share 6.2 %".
std::string evidence(std::string metric, double value, std::string_view unit) {
  std::ranges::replace(metric, '_', ' ');
  return metric + " " + format_quantity(value, unit);
}

std::optional<Found> find(const PointMetric& wanted, std::span<const ExperimentResult> results) {
  for (const ExperimentResult& result : results) {
    if (result.experiment != wanted.experiment) continue;
    for (const PointResult& point : result.points) {
      if (!is_of_the_chip(result, point)) continue;
      if (!has_parameters(point, wanted.parameters)) continue;
      const std::string id = result.experiment + "/" + point.id();
      if (const harness::Metric* const metric = point.find_metric(wanted.metric)) {
        return Found{
            metric->value, evidence(wanted.metric, metric->value, metric->unit) + " at " + id, {}};
      }
      if (point.skipped && !point.failed && point.reference &&
          point.reference->metric == wanted.metric) {
        return Found{point.reference->value,
                     evidence(wanted.metric, point.reference->value, point.reference->unit) +
                         " as published at " + id,
                     id};
      }
    }
  }
  return std::nullopt;
}

std::optional<Found> find(const Quotient& wanted, std::span<const ExperimentResult> results) {
  std::optional<Found> found = find(wanted.value, results);
  if (!found || !wanted.over) return found;
  const std::optional<Found> over = find(*wanted.over, results);
  if (!over || over->value == 0) return std::nullopt;
  const double ratio = found->value / over->value;
  return Found{ratio, fmt::format("{} / {} = {:.3g}", found->text, over->text, ratio),
               found->published_at + over->published_at};
}

bool holds(const Doubt& doubt, double value) {
  return doubt.least ? value >= *doubt.least : value <= *doubt.most;
}

/// Returns -1, 0 or 1: less, about the same, more.
int side(double ratio) { return ratio > 1 + kEven ? 1 : ratio < 1 / (1 + kEven) ? -1 : 0; }

bool agree(const Claim& claim, double value) {
  const bool close = std::abs(std::log(value / claim.published)) <= std::log(1 + kSame);
  return close && (!claim.measured.over || side(value) == side(claim.published));
}

/// Returns a ratio as the report writes it, or a share.
std::string number_text(const Claim& claim, std::optional<double> value) {
  if (!value) return "";
  return claim.measured.over ? fmt::format("{:.2f}x", *value) : format_quantity(*value, "1");
}

}  // namespace

std::string_view name_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::confirmed:
      return "confirmed";
    case ClaimVerdict::half:
      return "confirmed for one half";
    case ClaimVerdict::another_cause:
      return "number confirmed, cause not";
    case ClaimVerdict::artefact:
      return "artefact";
    case ClaimVerdict::not_reproduced:
      return "not reproduced";
    case ClaimVerdict::not_run:
      return "not run";
  }
  return "";
}

std::vector<Claim> parse_claims(std::string_view text, std::string_view source) {
  const JsonDocument document(text, {.attempted = "read claims from " + std::string(source),
                                     .accepted = std::string(kClaimsSchema)});
  document.root().require_schema(kClaimsSchema);
  std::vector<Claim> claims;
  document.root().member("claims").read(claims, read_claim);
  return claims;
}

std::vector<Claim> report_claims() { return parse_claims(embedded::claims, "claims.json"); }

JudgedClaim judge(const Claim& claim, std::span<const ExperimentResult> results) {
  JudgedClaim judged;
  const std::optional<Found> found = find(claim.measured, results);
  if (!found) return judged;
  judged.value = found->value;
  judged.evidence.push_back(found->text);
  judged.verdict = found->value > 0 && agree(claim, found->value) ? ClaimVerdict::confirmed
                                                                  : ClaimVerdict::not_reproduced;
  if (judged.verdict == ClaimVerdict::confirmed && !found->published_at.empty()) {
    judged.verdict = ClaimVerdict::half;
    judged.because = "only the emulated half ran: " + found->published_at +
                     " is the report's own figure, which nothing here measures";
  }
  for (const Doubt& doubt : claim.doubts) {
    const std::optional<Found> asked = find(doubt.measured, results);
    if (!asked) {
      judged.evidence.push_back("the run lacks the points that would say whether " + doubt.because);
      continue;
    }
    judged.evidence.push_back(asked->text);
    if (!holds(doubt, asked->value)) continue;
    const bool decides = doubt.verdict == ClaimVerdict::artefact ||
                         judged.verdict == ClaimVerdict::confirmed ||
                         judged.verdict == ClaimVerdict::half;
    if (!decides) continue;
    judged.verdict = doubt.verdict;
    judged.because = doubt.because;
  }
  const auto first = std::ranges::unique(judged.evidence).begin();
  judged.evidence.erase(first, judged.evidence.end());
  return judged;
}

bool can_judge(std::span<const ExperimentResult> results) {
  return std::ranges::any_of(results, [](const ExperimentResult& result) {
    return std::ranges::any_of(
        result.points, [&](const PointResult& point) { return is_of_the_chip(result, point); });
  });
}

Table claims_table(std::span<const Claim> claims, std::span<const ExperimentResult> results) {
  Table table{.caption = "what the report's summary claims, and what this run says"};
  std::vector<std::string> names, values, verdicts, words;
  for (const Claim& claim : claims) {
    const JudgedClaim judged = judge(claim, results);
    names.push_back(number_text(claim, claim.published));
    values.push_back(number_text(claim, judged.value));
    verdicts.emplace_back(name_of(judged.verdict));
    words.push_back(claim.says);
    if (!judged.because.empty()) {
      table.notes.push_back(
          fmt::format("{}: {}: {}", claim.name, name_of(judged.verdict), judged.because));
    }
    for (const std::string& evidence : judged.evidence) {
      table.notes.push_back(claim.name + ": " + evidence);
    }
  }
  using harness::Room;
  add_words(table, TableColumn{.title = "published", .number = true, .room = Room::key}, names);
  add_words(table, TableColumn{.title = "here", .number = true, .room = Room::key}, values);
  add_words(table, TableColumn{.title = "verdict", .room = Room::key}, verdicts);
  add_words(table, TableColumn{.title = "claim", .room = Room::key}, words);
  return table;
}

}  // namespace howard::reports
