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

/// Names a metric of the first emulated point of an experiment that has these parameters.
struct PointMetric {
  std::string experiment;
  harness::Parameters parameters;
  std::string metric;
};

/// Names a number of a run: a metric, or how many times another one it is.
struct Quotient {
  PointMetric value;
  std::optional<PointMetric> over;
};

enum class ClaimVerdict : std::uint8_t {
  confirmed,
  half,            ///< One value of the quotient is the report's own; the other one agrees with it.
  another_cause,   ///< The number is right, but the reason given for it is not.
  artefact,        ///< The number measures something else than the claim says.
  not_reproduced,  ///< The run gives another number and knows no reason.
  not_run,         ///< Its points are not in the run, or ran on another chip.
};

/// Returns "confirmed", "confirmed for one half", "number confirmed, cause not", "artefact", "not
/// reproduced" or "not run".
std::string_view name_of(ClaimVerdict verdict);

/// Describes something that would make a claim doubtful, and how a run can tell: the quotient is at
/// least `least` or at most `most`; one of them is given.
struct Doubt {
  ClaimVerdict verdict{};  ///< another_cause or artefact, if the doubt holds.
  std::string because;     ///< The reason in words.
  Quotient measured;
  std::optional<double> least, most;
};

/// Holds a sentence of the report's summary, as data.
struct Claim {
  std::string name;  ///< "5.29x".
  std::string says;
  double published = 0;
  Quotient measured;
  std::vector<Doubt> doubts;
};

/// Reads a file of schema "howard.claims/1". Throws Error with place and value if it breaks the
/// schema.
std::vector<Claim> parse_claims(std::string_view text, std::string_view source);

/// Returns the claims of the report's summary, from the file compiled into this library.
std::vector<Claim> report_claims();

/// Holds what a run says about a claim.
struct JudgedClaim {
  ClaimVerdict verdict = ClaimVerdict::not_run;
  std::optional<double> value;  ///< The claim's number in the run.
  std::string because;          ///< The reason of the doubt that decided; empty if there is none.
  std::vector<std::string>
      evidence;  ///< All evidence: "time 1.23 ms at ID / time 0.45 ms at ID = 2.7".
};

/// Judges a claim. Two numbers agree if they are on the same side of 1 and within 28 % of each
/// other, which is how far the report's own sessions are apart (as in table.h). A ratio within 10 %
/// of 1 is on neither side. For a figure that no device here can measure, such as a time of another
/// CPU, the published one is used, and the claim is confirmed for its other half at most.
JudgedClaim judge(const Claim& claim, std::span<const harness::ExperimentResult> results);

/// Returns whether the claims can be judged by these results: they have emulated points, which ran
/// on the chip and the software of the claims.
bool can_judge(std::span<const harness::ExperimentResult> results);

/// Returns a row for each claim; the evidence is in the notes.
Table claims_table(std::span<const Claim> claims,
                   std::span<const harness::ExperimentResult> results);

}  // namespace howard::reports
