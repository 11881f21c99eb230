// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/tensor.h"

namespace howard::ops {

Tensor::Tensor(Device& device, const TensorSpec& spec)
    : spec_(spec), buffer_(new BufferId(device.allocate(spec)), [&device](const BufferId* buffer) {
        device.release(*buffer);
        delete buffer;
      }) {}

}  // namespace howard::ops
