// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/result.h"

namespace howard::tracking {

/// Says what a row holds, which decides how two of them are compared.
enum class Kind : std::uint8_t {
  exact,    ///< A virtual time in picoseconds, without noise: any difference counts.
  sampled,  ///< A measurement with noise: the mean, median or only value of a process.
  words,    ///< A fact in words that may explain a change: "bound_by".
  skipped,  ///< The benchmark does not apply; the words say why.
  failed,   ///< The benchmark failed; the words say why.
};
/// Returns "exact" and so on.
std::string_view name_of(Kind kind);
/// Returns nothing for a word that is no kind.
std::optional<Kind> kind_of(std::string_view word);

/// Names what is measured again and again.
struct Series {
  std::string benchmark;  ///< "matmul_sweep/emulated/shape:128x128x128/...".
  std::string metric;     ///< "time"; "kernel_time.matmul" is a part of another metric.
  std::string unit;       ///< "s"; empty for words.
  harness::Better better = harness::Better::lower;
  Kind kind = Kind::exact;

  /// Returns whether it only explains another metric.
  bool is_part() const { return metric.find('.') != std::string::npos; }
  /// Returns whether a change of it is a finding.
  bool is_judged() const { return (kind == Kind::exact && !is_part()) || kind == Kind::sampled; }

  auto operator<=>(const Series&) const = default;
};

/// Holds what one run found for one series.
struct Row {
  Series series;
  double value = 0;              ///< In the series' unit; an exact row has seconds.
  std::int64_t picoseconds = 0;  ///< Only an exact row has them.
  std::vector<double> samples;   ///< Within the process; often empty.
  std::string words;             ///< Rows of words, skipped and failed have them.
};

/// Says under which conditions a run measured. Exact rows can be compared if `chip`, `software` and
/// `tool` agree, sampled ones if `machine`, `build` and `tool` do. What is empty
/// agrees with anything.
struct Conditions {
  std::string machine;   ///< "AMD EPYC ..., 2 threads"; empty if unknown, or nothing was sampled.
  std::string chip;      ///< The profile of the chip; empty if nothing was emulated.
  std::string software;  ///< The profile of the software.
  std::string build;     ///< "Release", "Debug"; empty if unknown.
  std::string compiler;  ///< It may differ: that is often what a change is about.
  std::string tool;      ///< "howard", "Google Benchmark", "hyperfine", "tt-metal".
  std::uint64_t seed = 0;

  bool operator==(const Conditions&) const = default;
};

/// Holds constants of the emulated chip by name, with their unit: all of them, or in runs of files
/// that do not say all, those that were set otherwise than in the profile.
using Constants = std::map<std::string, std::string>;

/// Holds one run of a set of benchmarks: what one process, or one invocation, measured.
struct Run {
  std::string id;      ///< 32 hexadecimal digits, unique; empty before it is stored.
  std::string commit;  ///< Its full name; "-dirty" is added for a tree with changes. Often unknown.
  std::string parent;  ///< The first parent of the commit; empty if unknown.
  std::string branch;
  std::int64_t time = 0;         ///< The run's time, in seconds since 1970.
  std::int64_t commit_time = 0;  ///< 0 if unknown.
  std::string date;              ///< When it was made, in the words of its file; often unknown.
  bool mixed = false;            ///< True if its parts are of several commits; `commit` is empty.
  Conditions conditions;
  Constants constants;
  std::vector<Row> rows;

  /// Returns the commit without "-dirty".
  std::string_view clean_commit() const;
  bool is_dirty() const { return commit.ends_with("-dirty"); }
};

/// Returns a commit as readers see it: git's names by twelve digits, others, as "v1.0", whole.
std::string short_commit(std::string_view commit);

/// Returns the constants that the names of the profiles say were set.
Constants settings_of(const Conditions& conditions);

/// Returns the constants that differ, each as "NAME: OLD -> NEW". If one of the runs does not say
/// all of its constants, only those that were set are compared.
std::vector<std::string> moved_constants(const Run& before, const Run& after);

/// Returns results as a run without id, branch and time; the commit is that of the program that
/// made them. Throws Error if a point is there twice, or if they were made under different
/// conditions.
Run run_of(std::span<const harness::ExperimentResult> results);

/// Puts the rows of `other`, a part of the same run, behind those of `run`. Throws Error as above.
void append(Run& run, Run other);

/// Returns what two runs differ in, so that their rows of `kind` cannot be compared; empty if they
/// can be.
std::string difference(const Conditions& before, const Conditions& after, Kind kind);

}  // namespace howard::tracking
