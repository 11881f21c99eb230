// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/values_of_ranks.h"

#include "engines/autograd/host_values.h"

namespace howard::training {

ops::Tensor no_loss(const autograd::Calls& calls) {
  ops::Tensor loss = calls.make({{1, 1}, DataType::float32});
  autograd::write_constant(calls.queue(), loss, 0);
  return loss;
}

}  // namespace howard::training
