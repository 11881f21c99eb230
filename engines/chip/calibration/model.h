// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engines/chip/calibration/measurements.h"
#include "engines/chip/profiles/profile.h"

namespace howard::calibration {

/// Predicts, on the emulator, what each row of a table takes with given constants.
class Model {
 public:
  virtual ~Model() = default;

  /// Writes the seconds of each measured quantity of row 0, then of row 1, and so on.
  virtual void predict(const chip::Profiles& profiles, std::span<double> seconds) const = 0;
};

/// Makes the model for a table, by the table's kind:
///    "program_dispatch"   the period of a replayed program, with empty ones behind a slow one
///    "matmul_traced"      period and math time of products replayed with the device profiler on,
///                         of their shapes and fidelities or of a column "program"
///    "op_kernel"          the kernel time of one program
///    "matmul_finished"    host call, product and finish, one after the other
///    "host_bound"         host calls alone
///    "traced_step"        the period of a replayed sequence of programs
///
/// Throws Error for another kind, or for a row that cannot be read.
std::unique_ptr<Model> make_model(const MeasurementTable& table);

}  // namespace howard::calibration
