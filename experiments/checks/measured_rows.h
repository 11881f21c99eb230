// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"

namespace howard::experiments {

/// Holds a published measurement of a chip that its constants were fitted to, beside the emulator.
struct MeasuredRow {
  std::string table;    ///< "products_130.period"
  std::string subject;  ///< "products_130.period/640x832x832/bfloat16/HiFi2"
  std::string source;
  double measured = 0, emulated = 0;  // seconds
};

/// Returns the rows of the tables of measurements that are of the chip of `constants` itself, in
/// their order; none if its family has tables of another kind (reports/published).
std::vector<MeasuredRow> measured_rows(const chip::ProfileConstants& constants);

}  // namespace howard::experiments
