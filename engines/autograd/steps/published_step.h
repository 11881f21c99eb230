// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/steps/step.h"
#include "engines/autograd/steps/step_recorder.h"

namespace howard::autograd {

/// The report's static engine as its code was released. The graph and the order of its calls are
/// made once, but each call of a step allocates its result, which replaces the handle of the
/// previous one. So an update leaves the weight's buffer as it is and puts another buffer in its
/// place. A captured step reads the buffers from before the capture whenever it is replayed, and
/// does not train. (In the released code these buffers have been freed by then and may belong to
/// another tensor; here they are kept until the next run.)
class PublishedStep final : public Step {
 public:
  /// Records `function`, whose scalars are fixed, for queue 0 of `device`. Whatever the step
  /// updates must be among `parameters`. All arguments must outlive this object. A step in which
  /// the host writes values is a bug: the report's static engine has none.
  PublishedStep(Device& device, const StepFunction& function,
                std::span<Parameter* const> parameters);

  void run() override;
  ops::Tensor loss() const override { return *slots_[loss_].tensor; }
  bool is_fixed() const override { return true; }

 private:
  /// Holds what a handle of the released code names: a parameter, a result of the step, or a buffer
  /// that nothing replaces.
  struct Slot {
    TensorSpec spec;
    Parameter* parameter = nullptr;
    std::optional<ops::Tensor> tensor;
    BufferId fixed{};

    BufferId buffer() const;
    void replace(ops::Tensor by);
  };
  struct Call {
    Program program;
    std::vector<std::size_t> inputs;  ///< Indices of slots.
    std::vector<std::size_t> outputs;
  };

  Device& device_;
  std::vector<ops::Tensor> replaced_;  ///< The parameters' tensors from before the last run.
  std::vector<Slot> slots_;
  std::vector<Call> calls_;
  std::size_t loss_ = 0;
};

}  // namespace howard::autograd
