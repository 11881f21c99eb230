// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/questions/other_arguments.h"

namespace howard::experiments {

/// Says whose calls are tuned: those of an iteration of a point.
struct TunedWork {
  /// Makes the experiment on a box.
  std::function<std::unique_ptr<harness::Experiment>(const Box&)> experiment;
  harness::Parameters point;
};

/// What calls that are alike take with some arguments.
struct ArgumentsInPlace {
  Attributes attributes;
  SimTime time;       ///< The kernels of a call, where it stands in the work.
  double error = 0;   ///< The expected error of that time, as a share.
  SimTime whole;      ///< An iteration.
  Program planned{};  ///< The last launch, as the chip was given it.
  std::optional<chip::MatmulPlan> matmul{};  ///< How it is made, if it is a product of matrices.
};

/// Calls of a work that are alike.
struct TunedCall {
  Program program;
  CoreGrid grid;     ///< The cores that it might use.
  double calls = 0;  ///< In an iteration.
  ArgumentsInPlace now, best;

  /// Returns how many times as fast the calls are with the best arguments.
  double gain() const { return now.time.seconds() / best.time.seconds(); }
  /// Returns the same of an iteration in which nothing else is changed.
  double gain_of_whole() const { return now.whole.seconds() / best.whole.seconds(); }
  /// Returns what all calls of an iteration save of the kernels' time.
  double saved() const { return calls * (now.time - best.time).seconds(); }
};

/// The answer for a work.
struct WorkTuning {
  std::string experiment;
  harness::Parameters point;
  std::string chip, software;  ///< "wormhole_b0_n300", "tt_metal_2025_12"
  std::string architecture;    ///< "wormhole_b0"
  SimTime time, best_time;  ///< An iteration, and one with the best arguments of all that is kept.
  double error = 0;         ///< The expected error of `time`, as a share.
  std::vector<TunedCall> calls;  ///< Those that gain more than their error, by what they save.
  std::size_t distinct = 0;      ///< Calls with arguments that can be tuned; alike ones count once.
  std::size_t best_already = 0;  ///< Those of them that no other arguments make faster.
  std::size_t below_error = 0;   ///< Those of them that would gain less than their expected error.
  std::vector<std::string> notes;  ///< What the reader must know.

  double gain() const { return time.seconds() / best_time.seconds(); }
};

/// Hears how many of the distinct calls have been tuned, and how many there are.
using Tried = std::function<void(std::size_t, std::size_t)>;

/// Finds the best arguments of all calls of a work that have some (has_other_arguments()). Each
/// time is that of the work run again with the arguments. Throws Error if the point cannot run, if
/// it has no such call, and once the box is to stop.
WorkTuning tune(const Box& box, const TunedWork& work, int threads, const Tried& tried = {});

}  // namespace howard::experiments
