// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

namespace howard::training {

/// The numbers that a setting or a key takes by itself.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool open =
      false;  ///< The bound itself is not taken: the upper one, or the lower if it is alone.

  bool has(double number) const;
  std::string words() const;
};

}  // namespace howard::training
