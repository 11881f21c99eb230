// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace howard::chip {

/// Says what a kind of time rests on.
enum class Known : std::uint8_t {
  measured,      ///< Runs of the same call on the user's own card.
  learnt,        ///< Other calls of its kind on the user's own card.
  calibrated,    ///< Several measured rows of the same kind.
  interpolated,  ///< Rows of a few sizes, or of a neighbouring kind.
  one_kernel,    ///< One row: where a constant comes from it, agreement with it proves nothing.
  by_analogy     ///< No row: another kernel's constants.
};
inline constexpr std::array kAllKnown{Known::measured,     Known::learnt,     Known::calibrated,
                                      Known::interpolated, Known::one_kernel, Known::by_analogy};
/// Returns "measured by you", "learnt from your card", "calibrated", "interpolated", "one kernel"
/// or "by analogy".
std::string_view name_of(Known known);

/// Says how far emulated times of one kind were from the hardware's on average, for rows that the
/// fit had not seen. It is no bound: a single time may be several times as far off.
struct Band {
  std::string name;  ///< "product", "dispatch", ...
  Known known{};
  double share = 0;    ///< The mean of |emulated / measured - 1|: 0.06 is 6 %.
  std::string source;  ///< The rows behind it.
  std::string_view architecture = "wormhole_b0";  ///< The family of chips that it is of.
};

}  // namespace howard::chip
