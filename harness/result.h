// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sim_time.h"

namespace howard::harness {

/// Says which device ran a point: the emulated Wormhole on a virtual clock, the host CPU, or the
/// device of a user's log.
enum class Backend : std::uint8_t { emulated, host, log };
/// Returns "emulated", "host" or "log".
std::string_view name_of(Backend backend);

/// Holds the axis names and canonical values of one point, in order: {"shape", "1024x1024x1024"},
/// ...
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of `axis`; absent if the point has no such axis.
std::optional<std::string_view> find_parameter(const Parameters& parameters, std::string_view axis);

enum class Better : std::uint8_t { lower, higher };

/// Holds one measured or derived number in SI base units; a ratio of 1 is 100 %. It is never NaN or
/// infinite.
struct Metric {
  std::string name;  ///< "time", "throughput", ...; "kernel_time.matmul" is a part of a metric.
  double value = 0;
  std::string unit;  ///< "s", "FLOP/s", "1" for ratios, "" for a value that ops compute.
  Better better = Better::lower;
  /// The exact value of a virtual time; absent for every other metric.
  std::optional<SimTime> virtual_time;
  /// One value per repetition for sampled metrics, which shows their noise; empty for exact ones.
  std::vector<double> samples;
  /// The distribution-free 95 % interval of the median; absent for fewer than six samples.
  std::optional<std::array<double, 2>> ci95;
};

/// Holds a published or logged figure that is shown beside a point. It is never used to compute a
/// result.
struct Reference {
  std::string metric;  ///< The metric to compare it with: "time".
  double value = 0;    ///< Its value in that metric's unit.
  std::string unit;
  std::string source;  ///< "report, postscript, matmul table".
  /// "calibration", "prediction" or "artefact"; "measured" for a time from a user's log.
  std::string status;
  std::string note;  ///< Why it is an artefact, or another caution; often empty.
};

struct PointResult {
  Backend backend{};
  Parameters parameters;
  /// Says why the point has no metrics; absent if it ran.
  std::optional<std::string> skipped;
  /// True if `skipped` is an Error, and not a case that does not apply here.
  bool failed = false;
  std::vector<Metric> metrics;
  /// Holds facts in words for readers: {"matmul_config", "2D 8x7 ..."}, {"bound_by", "in0 reads"}.
  std::vector<std::pair<std::string, std::string>> details;
  /// Holds what the user should know about this point: padding, an ignored argument.
  std::vector<std::string> warnings;
  std::optional<Reference> reference;

  /// Returns "emulated/shape:1024x1024x1024/dispatch:worker", which is unique in its experiment and
  /// stable over runs.
  std::string id() const;
  /// Returns null if there is no such metric.
  const Metric* find_metric(std::string_view name) const;
  /// Returns null if there is no such detail.
  const std::string* find_detail(std::string_view name) const;
  /// Returns (measured - published) / published. It is absent without a reference or its metric,
  /// and for a reference without unit, which is itself a difference.
  std::optional<double> relative_error() const;
};

/// Says which constants of a chip or of a software were used: those of a profile, apart from those
/// that a user has set. Files have it as one text.
struct ProfileName {
  std::string profile = {};
  std::vector<std::string> settings = {};  ///< "host.finish=1ms"

  /// Returns "tt_metal_2025_12 with host.finish=1ms with host.op_call=2us".
  std::string text() const;
  /// Reads such a text out of a file.
  static ProfileName read(std::string_view text);
  friend bool operator==(const ProfileName&, const ProfileName&) = default;
};

/// Holds what may explain a number; it is recorded with every result.
struct RunContext {
  std::string version;
  std::string git;  ///< The commit, with "-dirty" if the tree had changes; "unknown" outside git.
  std::string compiler;
  std::string build_type;
  std::string cpu;
  int threads = 0;  ///< The threads of the host engine; 0 if nothing ran on it.
  ProfileName chip;
  ProfileName software;
  /// The constants of that chip and software by name, each with its unit: {"host.finish", "40 us"}.
  /// Empty if nothing was emulated.
  std::vector<std::pair<std::string, std::string>> constants;
  /// True if emulated points ran on the chip and the software to which the published figures
  /// belong.
  bool published_chip = true;
  std::uint64_t seed = 0;
  std::vector<std::string> warnings;  ///< Debug build, sanitizers, BLAS variables and so on.
};

struct ExperimentResult {
  std::string experiment;
  RunContext context;
  std::vector<PointResult> points;
  bool interrupted = false;  ///< True if points are missing because the run was stopped.
};

}  // namespace howard::harness
