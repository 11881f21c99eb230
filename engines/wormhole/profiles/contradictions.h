// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// Two constants that can not both be true, named with their values: a part is larger than the
/// whole that it is of.
class Contradiction : public Error {
 public:
  using Error::Error;
};

/// A Contradiction when `constants`, which say `profiles`, have one.
void require_no_contradiction(const ProfileConstants& constants, const Profiles& profiles);

}  // namespace howard::wormhole
