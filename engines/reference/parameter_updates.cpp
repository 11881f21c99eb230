// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/parameter_updates.h"

#include <algorithm>
#include <cmath>

namespace howard::reference {

void update(const AdamWAttributes& attributes, const std::vector<const Values*>& inputs,
            std::vector<Values>& outputs) {
  const double rate = double{attributes.learning_rate};
  const double beta1 = double{attributes.beta1};
  const double beta2 = double{attributes.beta2};
  const auto steps = static_cast<double>(attributes.step);
  for (std::size_t i = 0; i < outputs[0].size(); ++i) {
    const double g = (*inputs[1])[i];
    const double m = beta1 * (*inputs[2])[i] + (1 - beta1) * g;
    const double v = beta2 * (*inputs[3])[i] + (1 - beta2) * g * g;
    const double decayed = (*inputs[0])[i] * (1 - double{attributes.weight_decay} * rate);
    const double m_hat = m / (1 - std::pow(beta1, steps));
    double v_hat = v / (1 - std::pow(beta2, steps));
    if (attributes.amsgrad) {
      v_hat = std::max(v_hat, (*inputs[4])[i]);
      outputs[3][i] = v_hat;
    }
    if (attributes.kahan) outputs.back()[i] = 0;
    outputs[0][i] = decayed - rate * m_hat / (std::sqrt(v_hat) + double{attributes.epsilon});
    outputs[1][i] = m;
    outputs[2][i] = v;
  }
}

void update(const SgdAttributes& attributes, const std::vector<const Values*>& inputs,
            std::vector<Values>& outputs) {
  const double momentum = double{attributes.momentum};
  for (std::size_t i = 0; i < outputs[0].size(); ++i) {
    double g = (*inputs[1])[i] + double{attributes.weight_decay} * (*inputs[0])[i];
    if (inputs.size() > 2) {
      const double buffer = momentum * (*inputs[2])[i] + (1 - double{attributes.dampening}) * g;
      outputs[1][i] = buffer;
      g = attributes.nesterov ? g + momentum * buffer : buffer;
    }
    outputs[0][i] = (*inputs[0])[i] - double{attributes.learning_rate} * g;
  }
}

}  // namespace howard::reference
