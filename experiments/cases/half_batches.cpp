// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/half_batches.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engines/autograd/steps/static_step.h"
#include "experiments/cases/emulated_case.h"

namespace howard::experiments {
namespace {

constexpr std::array kHalves{0, 1};

class HalfBatches final : public EmulatedCase {
 public:
  HalfBatches(const DevBox& box, const TrainingOptions& options,
              const std::function<Training(Device&)>& make_half)
      : EmulatedCase(box.open_chip({.dispatch = options.dispatch, .command_queues = 2})) {
    device().set_sub_devices(column_halves(device().compute_grid()));
    for (const int i : kHalves) {
      Half& half = halves_.at(at(i));
      half.training = make_half(device());
      half.step.emplace(device(), half.training.step);
      half.programs = half.step->programs();
      for (Program& program : half.programs) program.sub_device = i;
    }
    queue(0).finish();
    run();
    finish();
    if (options.engine == Engine::traced) capture();
  }

  void run() override {
    if (halves_[0].trace) {
      for (const int i : kHalves) {
        device().use_host_thread(i);
        queue(i).execute_trace(*halves_.at(at(i)).trace);
      }
      return;
    }
    for (std::size_t call = 0; call < halves_[0].programs.size(); ++call) {
      for (const int i : kHalves) {
        device().use_host_thread(i);
        queue(i).enqueue(halves_.at(at(i)).programs[call]);
      }
    }
  }

  void finish() override {
    for (const int i : kHalves) {
      device().use_host_thread(i);
      queue(i).finish();
    }
    device().join_host_threads();
  }

  void describe(double seconds, harness::PointResult& point) const override {
    Flops flops;
    for (const Half& half : halves_) {
      for (const Program& program : half.programs) flops += program.flops;
    }
    if (flops > Flops()) {
      point.metrics.push_back({.name = "throughput",
                               .value = static_cast<double>(flops.value()) / seconds,
                               .unit = "FLOP/s",
                               .better = harness::Better::higher});
    }
    point.warnings.emplace_back(
        "the two halves have weights of their own and add no gradients: the most that two queues "
        "can gain");
  }

 private:
  struct Half {
    Training training;
    std::optional<autograd::StaticStep> step;
    std::vector<Program> programs;  ///< They run on the half's sub-device.
    std::optional<TraceId> trace;
  };

  static std::size_t at(int half) { return static_cast<std::size_t>(half); }

  void capture() {
    for (const int i : kHalves) {
      Half& half = halves_.at(at(i));
      queue(i).begin_trace_capture();
      for (const Program& program : half.programs) queue(i).enqueue(program);
      half.trace = queue(i).end_trace_capture();
    }
  }

  std::array<Half, 2> halves_;
};

}  // namespace

std::unique_ptr<harness::Case> half_batches(const DevBox& box, const TrainingOptions& options,
                                            const std::function<Training(Device&)>& make_half) {
  if (options.engine == Engine::dynamic || options.as_published) {
    throw Error({.attempted = "train on two queues",
                 .value = "two queues are fed by the static and traced engines, corrected",
                 .hint = "-a engine=static -a variant=corrected"});
  }
  return std::make_unique<HalfBatches>(box, options, make_half);
}

std::int64_t half_of(std::int64_t batch) {
  if (batch % (2 * kTileSide) != 0) {
    throw Error({.attempted = "halve the batch",
                 .value = fmt::format("{} rows are no two equal halves of whole tiles", batch),
                 .accepted = "a multiple of 64"});
  }
  return batch / 2;
}

}  // namespace howard::experiments
