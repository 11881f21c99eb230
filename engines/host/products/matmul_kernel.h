// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engines/host/kernels/kernel.h"
#include "engines/host/products/matmul_plan.h"

namespace howard::host {

/// How the result of a product is held.
struct ResultPlace {
  bool stored = true;  ///< Or it is only for the pass that follows.
  bool wide = false;   ///< A result of bfloat16 as float32.
};

/// Products of matrices, accumulated in float32. Plans are made at the first product of a shape and
/// kept.
class MatmulKernels {
 public:
  /// `context` must outlive the kernels.
  explicit MatmulKernels(const KernelContext& context);
  ~MatmulKernels();

  /// Runs until this object goes. Error when the operands do not fit, or oneDNN or the system
  /// refuses (memory), now or when it runs.
  Kernel make_kernel(const MatmulAttributes& attributes, const Call& call,
                     const ProductFinish& finish = {}, const ResultPlace& place = {});

  /// The type in which `product` is given to the pass after it.
  static DataType type_for_pass(const Program& product);

 private:
  MatmulPlan& planned(const MatmulShape& shape);

  KernelContext context_;
  std::map<MatmulShape, std::unique_ptr<MatmulPlan>> plans_;
};

}  // namespace howard::host
