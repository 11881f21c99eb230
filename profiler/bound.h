// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace howard::profiler {

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

/// Says who was busy all the time, so that nothing else could have made it shorter.
enum class Pace : std::uint8_t { host, dispatcher, neither };

/// Returns who was busy for 97 % of an iteration. The rest is the beginning and the end of a
/// repeated step.
Pace pace_of(const SpentTime& time);

/// Returns what an iteration is bound by, in the words that all experiments share:
/// - "exchange" when chips wait for each other for half of the time or more,
/// - "host" when the host sets the pace with its calls,
/// - "dispatch" when the dispatcher sets the pace,
/// - `kernel_word` when kernels run for half of the time or more,
/// - "dispatch" otherwise: host, dispatcher and finish take longer than the kernels.
std::string bound_by(const SpentTime& time);

}  // namespace howard::profiler
