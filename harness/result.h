// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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

/// Says which chip was emulated, with which software.
struct EmulatedOn {
  ProfileName chip;
  ProfileName software;
};

/// Names a fact that code reads, and not only people. A file has it among a point's details, in
/// words.
template <class T>
struct Fact {
  std::string_view name;
  std::string (*words)(const T&);
  T (*read)(const std::string& words);
};

/// What the time depends on most: "host", "in0 reads", "kernels: matmul".
extern const Fact<std::string> kBoundBy;
/// How the slowest matrix product is cut over the cores.
extern const Fact<std::string> kSlowestProduct;
/// What the metric "time" covers, if that is not what the experiment says of all points.
extern const Fact<std::string> kTimed;
/// Why hardware could not run what was worked out: "over by 3.2 GB"; empty if it could, which is
/// the detail "fits: yes".
extern const Fact<std::string> kShortage;
/// The number of the last training step.
extern const Fact<std::int64_t> kStepsDone;

/// Says how far measured rows of a time's kinds, which a fit had not seen, were off on average.
struct ExpectedError {
  double share = 0;   ///< 0.06 is 6 %.
  std::string known;  ///< "calibrated 82 %, by analogy 18 %": the parts of a hundredth or more.
};

struct PointResult {
  Backend backend{};
  Parameters parameters;
  /// The chip that the point chose, as a machine with chips of another family than the run's does;
  /// absent if it is the run's.
  std::optional<EmulatedOn> own_chip = {};
  /// Says why the point has no metrics; absent if it ran.
  std::optional<std::string> skipped;
  /// True if `skipped` is an Error, and not a case that does not apply here.
  bool failed = false;
  std::vector<Metric> metrics;
  /// Holds facts in words: {"matmul_config", "2D 8x7 ..."}, {"bound_by", "in0 reads"}.
  std::vector<std::pair<std::string, std::string>> details;
  /// Holds what the user should know about this point: padding, an ignored argument.
  std::vector<std::string> warnings;
  std::optional<Reference> reference;

  /// Returns "emulated/shape:1024x1024x1024/dispatch:worker", which is unique in its experiment and
  /// stable over runs.
  std::string id() const;
  /// Returns null if there is no such metric.
  const Metric* find_metric(std::string_view name) const;
  /// Returns null if there is no such detail. What code reads is a Fact.
  const std::string* find_detail(std::string_view name) const;

  template <class T>
  void add(const Fact<T>& fact, const std::type_identity_t<T>& value) {
    details.emplace_back(fact.name, fact.words(value));
  }
  template <class T>
  std::optional<T> find(const Fact<T>& fact) const {
    const std::string* const words = find_detail(fact.name);
    return words == nullptr ? std::nullopt : std::optional<T>(fact.read(*words));
  }

  /// It is the metric "expected_error" and the detail "known".
  void add(ExpectedError error);
  std::optional<ExpectedError> expected_error() const;

  /// Returns (measured - published) / published. It is absent without a reference or its metric,
  /// and for a reference without unit, which is itself a difference.
  std::optional<double> relative_error() const;
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

/// Lists the results that no experiment makes, but a command.
enum class CommandResult : std::uint8_t {
  train,
  generate,
  explain,
  tune,
  compare_emulated,  ///< A log beside its emulated times.
  log_difference,
  log_devices,
  log_ops,
  log_gaps,
  log_sections,
  log_zones,
  log_host_ops,
  log_programs,
  log_calls,
  log_advice,
};
/// Returns the name that stands in place of an experiment's: "train".
std::string name_of(CommandResult result);

struct ExperimentResult {
  std::string experiment;  ///< Its name, or that of a CommandResult.
  RunContext context;
  std::vector<PointResult> points;
  bool interrupted = false;  ///< True if points are missing because the run was stopped.
};

}  // namespace howard::harness
