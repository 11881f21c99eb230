// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/tracking/run.h"

namespace howard::tracking {

/// Says what has become of a row. "Slower" is the worse direction of any metric.
enum class Verdict : std::uint8_t {
  same,
  faster,
  slower,
  ambiguous,  ///< Too few runs, or too noisy ones, to say; `needed` says how many would do.
  stale,      ///< It differs from the baseline, but newer runs of the baseline's branch agree.
  added,      ///< Only the second side has it.
  missing,    ///< Only the first side has it.
  failed,     ///< It failed on the second side.
};
/// Returns the word for readers and programs; "new" for `added`.
std::string_view name_of(Verdict verdict);

/// Says what is a change worth a finding.
struct Limits {
  /// The share of an exact time by which it may become slower: 0.02 is 2 %. Exact times have no
  /// noise, so that 0 means any picosecond.
  double threshold = 0;
  /// Says that sampled metrics are judged by their medians and `threshold` alone: a plain gate,
  /// which knows nothing of noise.
  bool plain = false;
  double relative_floor = 0.01;  ///< Smaller changes of sampled metrics are no findings,
  double absolute_floor = 1e-9;  ///< nor are those by fewer seconds than this.
  /// The greatest probability of any false alarm among all sampled metrics of a comparison.
  double alpha = 0.01;
  /// The change that shall be seen four times out of five; a metric that is too noisy for it is
  /// ambiguous, not the same.
  double detect = 0.05;
};

/// Holds the verdict on one row and its reasons.
struct JudgedRow {
  Series series;
  Verdict verdict = Verdict::same;
  double before = 0, after = 0;  ///< Values in the series' unit; 0 on a side that has none.
  std::int64_t before_ps = 0, after_ps = 0;  ///< An exact series has them.
  /// A sampled series has after / before with its interval, of 95 %, or for a suspect of 1 - alpha
  /// shared among the suspects. Infinite ends say that there are too few runs. There is none where
  /// a value is zero or negative.
  std::optional<double> ratio;
  std::optional<std::array<double, 2>> interval;
  std::size_t runs = 0;               ///< Pairs, or the smaller number of runs of both sides.
  std::optional<std::size_t> needed;  ///< The runs that would decide an ambiguous row.
  /// The smallest relative change of a sampled series that these runs show four times out of five.
  std::optional<double> detects;
  std::string reason;       ///< The reason why it failed, is missing or is stale.
  std::string explanation;  ///< Which ops and facts moved with it, as far as the runs say.

  /// Not 0 where ratios say nothing, because values are zero or negative: shifts are shares of it.
  double share_of = 0;

  /// Returns after / before of any row; absent if that would say nothing.
  std::optional<double> change() const;
  /// Returns how far the row moved in either direction: 2 and 0.5 are equally far.
  double distance() const;
};

/// Says what differs between two sides, of which the second is the newer one.
struct Comparison {
  std::string before, after;  ///< What the sides are called: files, commits, commands.
  std::vector<JudgedRow> rows;
  std::vector<std::string> constants;  ///< Constants that moved: "host.finish: 1 us -> 1 ms".
  std::vector<std::string>
      warnings;                 ///< What the reader must know: conditions, shifts of all rows.
  std::string effort;           ///< How a sampled comparison was made: pairs, seconds, load.
  bool moved_together = false;  ///< True if the whole machine seems to have moved.

  std::size_t count(Verdict verdict) const;
  std::size_t count(Verdict verdict, Kind kind) const;
};

/// Holds one side: runs of the same code under the same conditions. Exact rows and words are those
/// of the last run; for sampled rows every run is one observation.
struct Side {
  std::string name;
  std::vector<Run> runs;  ///< At least one, oldest first.
  /// More observations of sampled rows, of earlier runs.
  std::map<Series, std::vector<double>> earlier;

  const Run& last() const { return runs.back(); }
};

/// Throws Error if the sides ran under conditions that make their rows incomparable: another chip,
/// software, tool or machine, or a unit that differs.
void require_comparable(const Side& before, const Side& after);

/// Says on which scale values of a row are compared: by their logarithms or, where one of them is
/// not positive, as shares of the larger median.
class Scale {
 public:
  Scale(const std::vector<double>& before, const std::vector<double>& after);
  /// Returns 0 for logarithms.
  double share_of() const { return share_of_; }
  std::vector<double> of(const std::vector<double>& values) const;

 private:
  double share_of_ = 0;
};

/// Compares two sides that were measured apart from each other. Sampled rows are judged by
/// Student's test over runs on logarithms, with Holm's correction. If nearly all of them moved in
/// the same direction, the machine is suspected: they are judged against the median shift, and a
/// warning says so.
Comparison compare_sides(const Side& before, const Side& after, const Limits& limits);

/// Turns findings against an old baseline into `stale` where `newest`, a later run of the
/// baseline's branch, already has the level of the second side. `since` says of a series since
/// which commit the branch has had that level: "since 1f2e3d (main)".
void mark_stale(Comparison& comparison, const Side& newest, const Side& after,
                const std::function<std::string(const Series&)>& since, const Limits& limits);

/// Says how a row's shift of its logarithm is judged; comparisons of pairs use it too.
struct Judgement {
  double shift = 0;       ///< log(after / before), or a share of the row's `share_of`.
  double p = 1;           ///< Corrected for the family.
  double half_width = 0;  ///< Half the interval with the confidence 1 - `alpha`.
  double alpha = 0.05;
  std::size_t runs = 0;
};

/// Fills verdict, `detects` and `needed` of a sampled row, whose `before` is set.
void judge(JudgedRow& row, const Judgement& judgement, const Limits& limits);

/// Returns whether a shift of a sampled row is larger than both floors.
bool exceeds_floors(const JudgedRow& row, double shift, const Limits& limits);

/// Judges exact rows, and rows that only one side has or that failed. Rows of sampled series that
/// both have get `before` and `after` alone.
Comparison compare_exact(const Side& before, const Side& after, const Limits& limits);

}  // namespace howard::tracking
