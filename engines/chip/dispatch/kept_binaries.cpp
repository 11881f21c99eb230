// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/kept_binaries.h"

#include <algorithm>

namespace howard::chip {

bool KeptBinaries::pass(const PlannedProgram& planned) {
  if (std::ranges::find(kept_, &planned, &Kept::planned) != kept_.end()) return true;
  kept_.push_back({&planned, configuration_bytes(planned.footprint)});
  used_ += kept_.back().size;
  while (used_ > ring_) {
    used_ = used_ - kept_.front().size;
    kept_.pop_front();
  }
  return false;
}

}  // namespace howard::chip
