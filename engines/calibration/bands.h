// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "engines/wormhole/kernels/planned_program.h"

namespace howard::calibration {

/// What a kind of time rests on.
enum class Known : std::uint8_t {
  calibrated,    ///< Several measured rows of the same kind.
  interpolated,  ///< Rows of one size or a few, or of a neighbouring kind.
  by_analogy     ///< No row: another kernel's constants.
};
/// "calibrated", "interpolated", "by analogy".
std::string_view name_of(Known known);

/// How far emulated times of one kind were from the hardware's on average, for rows that the fit
/// had not seen. It is no bound: a single time may be several times as far off.
struct Band {
  std::string name;  ///< "product", "dispatch", ...
  Known known{};
  double share = 0;    ///< The mean of |emulated / measured - 1|: 0.06 is 6 %.
  std::string source;  ///< The rows behind it.
};

/// The bands in bands.json, in its order.
const std::vector<Band>& built_in_bands();

/// The band of the kernel of `planned`, of launches between kernels, and of calls by the host.
/// Which one a kernel has follows from the rows of the built-in tables: an elementwise function
/// from how many its constant has, any other op from whether there is one of its name. What has no
/// row is known by analogy.
const Band& band_of(const wormhole::PlannedProgram& planned);
const Band& dispatch_band();
const Band& host_band();

/// How well a time is known that is made of several: errors of one kind do not cancel, so bands add
/// in proportion to the parts.
class KnownTime {
 public:
  void add(SimTime part, const Band& band);

  SimTime time() const { return time_; }
  /// The mean error of the parts, weighted with their times; 0 before anything is added.
  double band() const;
  /// "calibrated 82 %, by analogy 18 %": parts of at least one hundredth, the best known first.
  std::string text() const;

 private:
  SimTime time_;
  double uncertain_ = 0;           // seconds
  std::array<double, 3> parts_{};  // seconds, by Known
};

}  // namespace howard::calibration
