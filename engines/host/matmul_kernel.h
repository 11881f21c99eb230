// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engines/host/kernel.h"
#include "engines/host/matmul_plan.h"

namespace howard::host {

/// Products of matrices, accumulated in float32. Plans are made at the first product of a shape and
/// kept. Without AVX-512, where oneDNN has no bfloat16, bfloat16 is widened to float32 and the
/// result rounded: the same arithmetic, slower.
class MatmulKernels {
 public:
  /// `context` must outlive the kernels.
  explicit MatmulKernels(const KernelContext& context);
  ~MatmulKernels();

  /// Runs until this object goes. Error when the operands do not fit, or oneDNN or the system
  /// refuses (memory), now or when it runs.
  /// `after`, where there is one, goes over the result, part by part as it comes.
  Kernel make_kernel(const MatmulAttributes& attributes, const Call& call,
                     std::shared_ptr<ElementPass> after = nullptr);

 private:
  void run_widened(const MatmulShape& shape, MatmulPlan& plan, const MatmulOperands& operands);
  MatmulPlan& planned(const MatmulShape& shape);

  KernelContext context_;
  std::map<MatmulShape, std::unique_ptr<MatmulPlan>> plans_;
  std::vector<float> wide_a_, wide_b_, wide_bias_, wide_c_;  ///< Of the kernel that runs.
};

}  // namespace howard::host
