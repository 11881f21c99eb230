// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// Says that two constants, named with their values, cannot both be true: a part is larger than its
/// whole.
class Contradiction : public Error {
 public:
  using Error::Error;
};

/// Throws a Contradiction when two of `constants` contradict each other. `profiles` must be read
/// from `constants`.
void require_no_contradiction(const ProfileConstants& constants, const Profiles& profiles);

}  // namespace howard::chip
