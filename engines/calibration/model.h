// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engines/calibration/measurements.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::calibration {

/// The emulator's side of a table: what each of its rows would take with given constants.
class Model {
 public:
  virtual ~Model() = default;

  /// The seconds of each measured quantity of row 0, of row 1, and so on.
  virtual void predict(const wormhole::Profiles& profiles, std::span<double> seconds) const = 0;
};

/// The model of a table of kind
/// - "program_dispatch": the period of a replayed program, with empty ones behind a slow one;
/// - "matmul_traced": period and math time of products replayed with the device profiler on;
/// - "op_kernel": the kernel of one program;
/// - "matmul_finished": host call, product and finish, one after the other;
/// - "host_bound": host calls alone;
/// - "traced_step": the period of a replayed sequence of programs.
///
/// Error for another kind, or a row that can not be read. `profiles` only plan and place operands.
std::unique_ptr<Model> make_model(const MeasurementTable& table,
                                  const wormhole::Profiles& profiles);

}  // namespace howard::calibration
