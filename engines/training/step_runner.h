// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/traced_step.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// Says which of the three engines runs the steps. The losses are the same, to the bit.
enum class Engine : std::uint8_t { dynamic, static_step, traced };

/// Returns "dynamic", "static" or "traced".
std::string_view name_of(Engine engine);

/// Returns whether the scalars of a recipe's step change from step to step. In a captured step,
/// everything that changes is on the device.
autograd::Scalars scalars_of(const Recipe& recipe, Engine engine);

/// Reads the loss of each batch of a step between its forward and its backward pass, as TTML does.
class LossReads {
 public:
  explicit LossReads(Device& device) : device_(device) {}

  /// Is a step's TrainingOptions::after_forward. A step that is run on another device reads
  /// nothing.
  void read(Device& on, const ops::Tensor& loss);
  /// Returns the mean of what was read since the last call, to the bit as a device adds and divides
  /// it; absent if nothing was read.
  std::optional<float> take_mean();

 private:
  Device& device_;
  std::vector<float> losses_;
  bool is_rounded_ = false;  ///< Each result of the device is one of bfloat16.
};

/// Runs a training step again and again by one of the engines.
class StepRunner {
 public:
  /// `device` and what `function` uses must outlive it. The step is recorded, and captured, when it
  /// is run for the first time. `reads` has the losses that the dynamic engine has read when the
  /// step ends; if it is null or has none, the loss is read then.
  StepRunner(Device& device, autograd::StepFunction function, Engine engine,
             autograd::Scalars scalars, LossReads* reads = nullptr);

  /// Makes the step and returns its loss. Throws Error as StaticStep and TracedStep do.
  float run();

  /// Returns the step, for those who run it on a device of their own.
  const autograd::StepFunction& function() const { return function_; }
  /// Returns the programs of the recorded step. There are none before it is recorded, nor with the
  /// dynamic engine.
  std::span<const Program> programs() const;

 private:
  Device& device_;
  autograd::StepFunction function_;
  Engine engine_;
  autograd::Scalars scalars_;
  LossReads* reads_;
  std::unique_ptr<autograd::StaticStep> static_;
  std::unique_ptr<autograd::TracedStep> traced_;
};

}  // namespace howard::training
