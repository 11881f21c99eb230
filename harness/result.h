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

/// Which device ran a point: the emulated Wormhole on a virtual clock, the host CPU, or whichever
/// one a user's log is of.
enum class Backend : std::uint8_t { emulated, host, log };
/// "emulated", "host", "log".
std::string_view name_of(Backend backend);

/// Ordered axis names and canonical values of one point: {"shape", "1024x1024x1024"}, ...
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// The value of `axis`; absent when the point has no such axis.
std::optional<std::string_view> find_parameter(const Parameters& parameters, std::string_view axis);

enum class Better : std::uint8_t { lower, higher };

/// One measured or derived number in SI base units, ratios as 1 = 100 %. Never NaN or infinite.
struct Metric {
  std::string name;  ///< "time", "throughput", ...; a part of one: "kernel_time.matmul".
  double value = 0;
  std::string unit;  ///< "s", "FLOP/s", "1" for ratios, "" for what ops compute.
  Better better = Better::lower;
  /// The exact value when it is a virtual time; absent for every other metric.
  std::optional<SimTime> virtual_time;
  /// Noise: empty for exact metrics, one value per repetition for sampled ones.
  std::vector<double> samples;
  /// Distribution-free 95 % interval of the median; absent for fewer than six samples.
  std::optional<std::array<double, 2>> ci95;
};

/// A published or logged figure beside which a point stands. Never used to compute a result.
struct Reference {
  std::string metric;  ///< The metric it is to be compared with: "time".
  double value = 0;    ///< In that metric's unit.
  std::string unit;
  std::string source;  ///< "report, postscript, matmul table".
  /// "calibration", "prediction" or "artefact"; "measured" for a time of a user's log.
  std::string status;
  std::string note;  ///< Why it is an artefact, or another caution; often empty.
};

struct PointResult {
  Backend backend{};
  Parameters parameters;
  /// Why the point has no metrics; absent when it ran.
  std::optional<std::string> skipped;
  /// True when `skipped` is an Error rather than something that does not apply here.
  bool failed = false;
  std::vector<Metric> metrics;
  /// Facts in words, for readers: {"matmul_config", "2D 8x7 ..."}, {"bound_by", "in0 reads"}.
  std::vector<std::pair<std::string, std::string>> details;
  /// Things the user should know about this point: padding, an ignored argument.
  std::vector<std::string> warnings;
  std::optional<Reference> reference;

  /// "emulated/shape:1024x1024x1024/dispatch:worker": unique in its experiment, stable over runs.
  std::string id() const;
  /// Null when there is no such metric.
  const Metric* find_metric(std::string_view name) const;
  /// Null when there is no such detail.
  const std::string* find_detail(std::string_view name) const;
  /// (measured - published) / published; absent without a reference or its metric, and for one
  /// without unit, itself a difference.
  std::optional<double> relative_error() const;
};

/// What may explain a number: recorded with every result.
struct RunContext {
  std::string version;
  std::string git;  ///< Commit, with "-dirty" when the tree had changes; "unknown" outside git.
  std::string compiler;
  std::string build_type;
  std::string cpu;
  int threads = 0;  ///< Of the host engine; 0 when nothing ran on it.
  std::string chip_profile;
  std::string software_profile;
  /// Whether emulated points ran on the chip and the software that the published figures are of.
  bool published_chip = true;
  std::uint64_t seed = 0;
  std::vector<std::string> warnings;  ///< Debug build, sanitizers, BLAS variables, ...
};

struct ExperimentResult {
  std::string experiment;
  RunContext context;
  std::vector<PointResult> points;
  bool interrupted = false;  ///< True when points are missing because the run was stopped.
};

}  // namespace howard::harness
