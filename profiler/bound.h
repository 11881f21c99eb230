// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace howard::profiler {

/// From this share of a time on, a part counts as all of it: it sets the pace of a repeated step,
/// because the rest is the step's beginning and its end.
inline constexpr double kSetsThePace = 0.97;

/// Returns whether programs run for so much of a time that they decide how long it is: for half of
/// it or more. Otherwise the time depends on what they wait for.
constexpr bool kernels_decide(double kernels, double whole) { return 2 * kernels >= whole; }

/// Holds what is known of the time that one iteration takes, in seconds.
struct SpentTime {
  double whole = 0;
  double kernels = 0;            ///< Programs ran. They may overlap with all else.
  double host = 0;               ///< The host worked on its calls; 0: not known.
  double dispatcher = 0;         ///< The dispatcher worked on commands; 0: not known.
  double exchange = 0;           ///< Chips waited for each other's data; 0: there is one chip.
  std::string_view kernel_word;  ///< What the kernels spend most on: "unpack", "kernels: matmul".
};

/// Returns what an iteration is bound by, in the words that all experiments share:
/// - "exchange" when chips wait for each other for half of the time or more,
/// - "host" when the host sets the pace with its calls,
/// - "dispatch" when the dispatcher sets the pace,
/// - `kernel_word` when kernels run for half of the time or more,
/// - "dispatch" otherwise: host, dispatcher and finish take longer than the kernels.
std::string bound_by(const SpentTime& time);

}  // namespace howard::profiler
