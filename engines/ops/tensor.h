// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engines/device/device.h"

namespace howard::ops {

/// A tensor on a device: its spec, and shared ownership of its buffer. Copies share the buffer; the
/// last copy releases it. It must not outlive its device.
class Tensor {
 public:
  /// Allocates the tensor on `device`, with undefined values. Throws Error when the device's memory
  /// is exhausted.
  Tensor(Device& device, const TensorSpec& spec);

  /// Returns the same buffer under another shape. Throws Error unless the elements stay where they
  /// are: both shapes must have as many elements, and in tile layout the same columns, and either
  /// as many rows or rows of whole tiles.
  Tensor view(const Shape& shape) const;

  const TensorSpec& spec() const { return spec_; }
  BufferId buffer() const { return held_->buffer; }
  Operand operand() const { return {buffer(), spec_}; }
  operator Operand() const { return operand(); }  // NOLINT(google-explicit-constructor)

 private:
  /// Owns a buffer during its lifetime.
  struct Held {
    Held(Device& from, const TensorSpec& spec) : device(from), buffer(from.allocate(spec)) {}
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    Device& device;
    BufferId buffer;
  };

  TensorSpec spec_;
  std::shared_ptr<const Held> held_;
};

/// Returns the operands of a program on these tensors.
std::vector<Operand> operands_of(std::span<const Tensor> tensors);

}  // namespace howard::ops
