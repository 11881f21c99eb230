// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/language_models/model_calls.h"

namespace howard::experiments {

/// Holds the calls of a step on an emulated chip, in their order. Tensors have no values: operands
/// in DRAM share one piece of memory, and those in L1 exist while their program is handed over.
class ModelStep {
 public:
  /// `device` must outlive it. Throws Error if an operand of a single call does not fit.
  ModelStep(chip::EmulatedChip& device, Work work);

  /// Calls `visit` with each program, as often as it is called.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const WorkGroup& group : work_) {
      for (std::int64_t i = 0; i < group.times; ++i) {
        for (const WorkCall& call : group.calls) with_operands(call.program, visit);
      }
    }
  }

  const KernelAccount& kernels() const { return kernels_; }
  /// Returns what a trace of the step takes in the region for traces.
  Bytes trace_bytes() const { return trace_; }

 private:
  /// Calls `visit` with the program on operands that exist.
  template <class Visit>
  void with_operands(Program program, Visit&& visit) const {
    std::map<TensorSpec, ops::Tensor> in_l1;
    for (auto* const operands : {&program.inputs, &program.outputs}) {
      for (Operand& operand : *operands) {
        if (operand.spec.storage == Storage::dram) {
          operand.buffer = dram_->buffer();
          continue;
        }
        auto found = in_l1.find(operand.spec);
        if (found == in_l1.end()) {
          found = in_l1.emplace(operand.spec, ops::Tensor(device_, operand.spec)).first;
        }
        operand.buffer = found->second.buffer();
      }
    }
    visit(static_cast<const Program&>(program));
  }
  void reserve_dram();

  chip::EmulatedChip& device_;
  Work work_;
  std::optional<ops::Tensor> dram_;
  KernelAccount kernels_{KernelParts::layers};
  Bytes trace_;
};

}  // namespace howard::experiments
