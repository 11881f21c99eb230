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

  /// The same buffer under another shape. Error unless the elements stay where they are: as many,
  /// and in tile layout the same columns, and as many rows or rows of whole tiles in both shapes.
  Tensor view(const Shape& shape) const;

  const TensorSpec& spec() const { return spec_; }
  BufferId buffer() const { return held_->buffer; }
  Operand operand() const { return {buffer(), spec_}; }

 private:
  /// A buffer as long as it lives.
  struct Held {
    Held(Device& from, const TensorSpec& spec) : device(from), buffer(from.allocate(spec)) {}
    ~Held() { device.release(buffer); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    Device& device;
    BufferId buffer;
  };

  TensorSpec spec_;
  std::shared_ptr<const Held> held_;
};

}  // namespace howard::ops
