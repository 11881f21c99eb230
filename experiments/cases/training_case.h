// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engines/autograd/steps/step.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/training.h"
#include "experiments/laboratory/devbox.h"
#include "harness/experiment.h"

namespace howard::experiments {

/// Says what the time of a step covers, for the titles of tables: the mean lets steps overlap, and
/// the finish behind the last one is divided among all.
std::string step_timed(const harness::VirtualTiming& timing);
inline constexpr const char* kStepTimedOnHost = "a training step and its finish";

struct TrainingOptions {
  harness::Backend backend{};
  chip::DispatchCoreType dispatch{};  ///< The emulated chip's.
  Engine engine{};                    ///< dynamic, static_step or traced.
  /// Runs the report's static engine as released: each call allocates its result, and the replay of
  /// a trace does not train.
  bool as_published = false;
  MatmulAttributes products;  ///< How a step multiplies matrices, apart from transpositions.
  bool fused = false;         ///< Uses functions that do more in one program, as TTML's do.
  int queues = 1;             ///< The queues of the emulated chip; for 2 see half_batches.h.
  bool profiled = false;      ///< The chip is profiled by tt-metal's device profiler.
  bool fuses_traces = false;  ///< The host's device fuses; HostOptions says how.
  bool reads_loss = false;    ///< Each step ends with a blocking read of its loss.
};

/// Returns what the axes engine, variant, dispatch, grid, fused and queues say. Without them it is
/// the dynamic engine, as published, under WORKER dispatch.
TrainingOptions training_options(harness::Backend backend, const Point& point);

/// Returns what the axis dtype says. Without it parameters are bfloat16 on the chip, as published,
/// and float32 on the host.
TrainingTypes training_types(harness::Backend backend, const Point& point);

/// Runs a training step on an emulated chip of its own, or on the host CPU. It is timed without a
/// finish after each step on the chip, and with one on the host. The first step has run already, so
/// buffers and weights have the sizes of all later ones.
class TrainingCase final : public harness::Case {
 public:
  TrainingCase(const DevBox& box, const TrainingOptions& options,
               const std::function<Training(Device&)>& make);

  void run() override;
  void finish() override { device_->command_queue(0).finish(); }
  SimTime now() const override { return device_->now(); }
  void set_trace_sink(EventSink* sink) override { device_->set_trace_sink(sink); }

  /// Adds the rate. On the chip it also adds what a step consists of and is bound by, and on the
  /// host its loss.
  void describe(double seconds, harness::PointResult& point) const override;

 private:
  void make_step();
  void count(std::span<const Program> programs);
  void describe_chip(double seconds, harness::PointResult& point) const;
  float loss() const;

  std::shared_ptr<Device> device_;
  chip::EmulatedChip* chip_ = nullptr;  ///< The device, if it is emulated.
  double peak_ = 0;  ///< The FLOP/s of its cores at HiFi2, ttnn's default for bfloat16.
  TrainingOptions options_;
  Training training_;
  std::unique_ptr<autograd::Step> eager_;
  std::unique_ptr<autograd::Step> traced_;
  autograd::Step* step_ = nullptr;  ///< The step that is timed.
  Flops flops_;
  // These say what a step is on the chip.
  std::size_t calls_ = 0;
  std::string op_list_;  ///< "matmul 5, transpose 2": by the order in which ops are first called.
  KernelAccount kernels_;
  SimTime host_time_;
  float first_loss_ = 0;
};

}  // namespace howard::experiments
