// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>

#include "engines/host/host_memory.h"
#include "engines/host/kernels/matmul/matmul_kernel.h"

namespace howard::host {

/// Makes the kernels of TTML's swiglu_fw out of three products and a pass between them. What lies
/// between them has the operands' data type. As one kernel runs at a time, those of one size share
/// its memory.
class SwigluKernels {
 public:
  /// Both must outlive the kernels.
  SwigluKernels(MatmulKernels& products, const KernelContext& context)
      : products_(products), context_(context) {}

  /// Throws Error when the operands do not fit, and as products do.
  Kernel make_kernel(const Program& program, std::span<std::byte* const> inputs,
                     std::span<std::byte* const> outputs);

 private:
  /// The two tensors between the products.
  struct Between {
    LargePages gate, up;
  };

  std::shared_ptr<Between> between(const TensorSpec& spec);

  MatmulKernels& products_;
  const KernelContext& context_;
  std::map<Bytes, std::weak_ptr<Between>> made_;
};

}  // namespace howard::host
