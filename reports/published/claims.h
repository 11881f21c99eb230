// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// A metric of the first emulated point of an experiment that has these parameters.
struct PointMetric {
  std::string experiment;
  harness::Parameters parameters;
  std::string metric;
};

/// A number of a run: a metric, or how many times another one it is.
struct Quotient {
  PointMetric value;
  std::optional<PointMetric> over;
};

enum class ClaimVerdict : std::uint8_t {
  confirmed,
  another_cause,   ///< The number is right, the reason given for it is not.
  artefact,        ///< The number is of something else than the claim says.
  not_reproduced,  ///< The run says another number, and knows no reason.
  not_run,         ///< The points it is about are not in the run, or ran on another chip.
};

/// "confirmed", "confirmed with another cause", "artefact", "not reproduced", "not run".
std::string_view name_of(ClaimVerdict verdict);

/// Something that would make a claim doubtful, and how a run can tell: the quotient is at least
/// `least`, or at most `most`, of which one is given.
struct Doubt {
  ClaimVerdict verdict{};  ///< another_cause or artefact, when it holds.
  std::string because;     ///< In words.
  Quotient measured;
  std::optional<double> least, most;
};

/// A sentence of the report's summary, as data.
struct Claim {
  std::string name;  ///< "5.29x".
  std::string says;
  double published = 0;
  Quotient measured;
  std::vector<Doubt> doubts;
};

/// Reads a file of schema "howard.claims/1". Error with place and value when it breaks the schema.
std::vector<Claim> parse_claims(std::string_view text, std::string_view source);

/// The claims of the report's summary, from the file compiled into this library.
std::vector<Claim> report_claims();

/// What a run says of a claim.
struct JudgedClaim {
  ClaimVerdict verdict = ClaimVerdict::not_run;
  std::optional<double> value;  ///< The claim's number in the run.
  std::string because;          ///< Of the doubt that decided; empty without one.
  std::vector<std::string>
      evidence;  ///< "time 1.23 ms at ID / time 0.45 ms at ID = 2.7", of all asked.
};

/// Two numbers agree when they are on the same side of 1 and within 28 % of each other, which is
/// how far the report's own sessions are apart (as in table.h); a ratio within 10 % of 1 is on
/// neither side.
/// A figure that no device here can measure, as a time of another CPU, is the published one.
JudgedClaim judge(const Claim& claim, std::span<const harness::ExperimentResult> results);

/// Whether the claims can be judged by these results: they have emulated points, and the claims are
/// about the chip and the software of these.
bool can_judge(std::span<const harness::ExperimentResult> results);

/// A row for each claim; the evidence stands in the notes.
Table claims_table(std::span<const Claim> claims,
                   std::span<const harness::ExperimentResult> results);

}  // namespace howard::reports
