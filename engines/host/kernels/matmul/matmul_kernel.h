// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engines/host/kernels/kernel.h"
#include "engines/host/kernels/matmul/product_plan.h"

namespace howard::host {

/// Says how the result of a product is held.
struct ResultPlace {
  /// If false, the result is not stored; only the pass that follows uses it.
  bool stored = true;
  bool wide = false;  ///< True if a bfloat16 result is held as float32.
};

/// Products of matrices, accumulated in float32. A plan is made at the first product of a shape and
/// then kept.
class MatmulKernels {
 public:
  /// `context` must outlive the kernels.
  explicit MatmulKernels(const KernelContext& context);
  ~MatmulKernels();

  /// Makes a kernel that can run as long as this object lives. Throws Error when the operands do
  /// not fit. Throws Error, now or when the kernel runs, if oneDNN or the system refuses (memory).
  Kernel make_kernel(const MatmulAttributes& attributes, const Call& call,
                     const ProductFinish& finish = {}, const ResultPlace& place = {});

  /// Returns the type in which the result of `product` is given to the pass after it.
  static DataType type_for_pass(const Program& product);

 private:
  ProductPlan& planned(const MatmulShape& shape);

  KernelContext context_;
  std::map<MatmulShape, std::unique_ptr<ProductPlan>> plans_;
};

}  // namespace howard::host
