// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

namespace howard {

/// Reports what a user asked for and what cannot be understood, or does not go together: the words
/// are wrong, and not what they name. A program says so with the exit status of a bad command line.
class BadRequest : public Error {
 public:
  using Error::Error;
};

}  // namespace howard
