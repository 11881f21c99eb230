// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/swiglu_slopes.h"

#include <cmath>

namespace howard::reference {

void swiglu_slopes(const std::vector<const Values*>& inputs, std::vector<Values>& outputs) {
  for (std::size_t i = 0; i < outputs[0].size(); ++i) {
    const double gate = (*inputs[0])[i];
    const double dy = (*inputs[2])[i];
    const double open = 1 / (1 + std::exp(-gate));
    outputs[0][i] = dy * (*inputs[1])[i] * open * (1 + gate * (1 - open));
    outputs[1][i] = dy * gate * open;
  }
}

}  // namespace howard::reference
