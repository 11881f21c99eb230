// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/device/device.h"

namespace howard::ops {

/// A tensor on a device: its spec and shared ownership of its buffer. Copies share the buffer; the
/// last one releases it. Must not outlive its device.
class Tensor {
 public:
  /// Allocates on `device`, values undefined. Error when its memory is exhausted.
  Tensor(Device& device, const TensorSpec& spec);

  const TensorSpec& spec() const { return spec_; }
  BufferId buffer() const { return *buffer_; }
  Operand operand() const { return {buffer(), spec_}; }

 private:
  TensorSpec spec_;
  std::shared_ptr<const BufferId> buffer_;
};

}  // namespace howard::ops
