// SPDX-License-Identifier: Apache-2.0
//
// Question: do two command queues, each with half of the cores, run two matrix products faster than
// one queue with all of them?
//
// The report (part 3, 2-CQ table) found a speedup of 1.71 at 256, none at 512 and a loss above, and
// concluded a crossover around 512. Its benchmark never uses the second queue: both products of the
// "2CQ" column go to queue 0 and to the same 28 cores, so that column repeats the second one, and
// the speedup at 256 is a comparison with the first row of a cold process.
//
// half_2cq runs what the benchmark ran, and parallel_2cq what its text says: each half of the grid
// is a sub-device, fed by a queue and a host thread of its own.
//
// Timing: an iteration is two independent products whose results are dropped. 5 iterations warm up
// and 50 are timed, with one finish at the end; the result is total / 50. All have explicit core
// grids, so they run at LoFi.

#include <utility>

#include "engines/ops/tensor.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"
#include "profiler/bound.h"

namespace howard::experiments {
namespace {

using harness::CellSource;
using harness::PointResult;

enum class Queueing : std::uint8_t { full_1cq, half_1cq, half_2cq, parallel_2cq };
const auto kQueueing = choice_axis<Queueing>("layout", "all cores or halves, one queue or two",
                                             {{"full_1cq", Queueing::full_1cq},
                                              {"half_1cq", Queueing::half_1cq},
                                              {"half_2cq", Queueing::half_2cq},
                                              {"parallel_2cq", Queueing::parallel_2cq}});

constexpr harness::VirtualTiming kPairTiming{.warmup = 5, .iterations = 50};

/// Says which queue and sub-device one of the two products goes to.
struct Destination {
  int queue = 0;
  int sub_device = 0;
};

class ProductPair final : public EmulatedCase {
 public:
  ProductPair(const DevBox& box, const Point& point)
      : EmulatedCase(box.open_chip({.command_queues = 2})),
        issue_(box.profiles().software.host_op_call + box.profiles().software.host_allocation),
        finish_(box.profiles().software.host_finish) {
    const ProductShape shape = point[kShape];
    const Queueing queueing = point[kQueueing];
    const CoreGrid all = device().compute_grid();
    const CoreGrid half{all.columns / 2, all.rows};
    attributes_.core_grid = queueing == Queueing::full_1cq ? all : half;
    if (queueing == Queueing::half_2cq || queueing == Queueing::parallel_2cq) {
      device().set_sub_devices(column_halves(all));
      if (queueing == Queueing::parallel_2cq) second_ = {1, 1};
    }
    const TensorSpec a{{shape.m, shape.k}}, b{{shape.k, shape.n}};
    for (int i = 0; i < 2; ++i) {
      left_.emplace_back(device(), a);
      right_.emplace_back(device(), b);
    }
    device().use_host_thread(second_.queue);  // if there is a second thread, it starts now
    device().use_host_thread(0);
  }

  void run() override {
    multiply(0, Destination{});
    multiply(1, second_);
  }

  void finish() override {
    for (const int i : {0, 1}) {
      device().use_host_thread(i == second_.queue ? i : 0);
      queue(i).finish();
    }
    device().join_host_threads();
  }

  void describe(double seconds, PointResult& point) const override {
    const double work = 2 * static_cast<double>(flops_.value());
    point.metrics.push_back({.name = "throughput",
                             .value = work / seconds,
                             .unit = "FLOP/s",
                             .better = harness::Better::higher});
    point.metrics.push_back({.name = "kernel_time",
                             .value = launch_.kernel.total.seconds(),
                             .unit = "s",
                             .virtual_time = launch_.kernel.total});
    point.metrics.push_back(
        {.name = "size", .value = static_cast<double>(left_[0].spec().shape.rows()), .unit = "1"});
    // Programs of one queue follow each other; the two threads of parallel_2cq share the work.
    const int in_turn = second_.queue == 0 ? 2 : 1;
    const SimTime kernels = in_turn * launch_.kernel.total;
    const SimTime host = in_turn * issue_;
    KernelAccount known;
    known.add(launch_.name, launch_, *band_, in_turn);
    const double finish = finish_.seconds() / kPairTiming.iterations;
    const profiler::SpentTime spent{.whole = seconds,
                                    .kernels = kernels.seconds(),
                                    .host = host.seconds() + finish,
                                    .kernel_word = name_of(launch_.kernel.bottleneck)};
    known.describe_error(spent, point);
    point.add(harness::kBoundBy, profiler::bound_by(spent));
    if (kernels >= host && in_turn == 1) {
      point.metrics.push_back(
          {.name = "sharing_cost", .value = seconds / kernels.seconds() - 1, .unit = "1"});
    }
  }

 private:
  /// The result is dropped at once, as in the benchmark.
  void multiply(std::size_t pair, const Destination& to) {
    device().use_host_thread(to.queue);
    const ops::Tensor out(
        device(),
        results_of(MatmulAttributes{}, std::array{left_[pair].spec(), right_[pair].spec()})[0]);
    Program program = make_program(attributes_, {left_[pair], right_[pair]}, {out});
    program.sub_device = to.sub_device;
    queue(to.queue).enqueue(program);
    if (band_ != nullptr) return;  // the products are alike
    flops_ = program.flops;
    launch_ = device().explain(program);
    band_ = &calibration::band_of(launch_, device().profiles().chip.architecture);
  }

  SimTime issue_;   ///< The host's time for one product.
  SimTime finish_;  ///< The host's time for the finish at the end.
  MatmulAttributes attributes_;
  Destination second_;
  std::vector<ops::Tensor> left_, right_;
  Flops flops_;
  chip::PlannedProgram launch_;
  const calibration::Band* band_ = nullptr;  ///< The kernel's band.
};

}  // namespace

Experiment two_queues(const Box& box) {
  return {
      .name = "two_queues",
      .question = "Are two queues on halves of the cores faster than one queue on all of them?",
      .axes = {kShape.with({"256x256x256", "512x512x512", "1024x1024x1024", "2048x2048x2048"},
                           {"512x512x512", "2048x2048x2048"}),
               kQueueing.with(kQueueing.choices)},
      .timing = kPairTiming,
      .presentation = {.timed = "two products, one finish after all",
                       .columns = {{"shape", CellSource::parameter, "shape"},
                                   {"layout", CellSource::parameter, "layout"},
                                   {"time", CellSource::metric, "time"},
                                   expected_error_column(),
                                   {"rate", CellSource::metric, "throughput"},
                                   {"kernel", CellSource::metric, "kernel_time"},
                                   {"sharing costs", CellSource::metric, "sharing_cost",
                                    harness::Room::spare,
                                    "how much longer than one kernel the two take side by side"},
                                   {"published", CellSource::reference, ""},
                                   {"error", CellSource::error, ""},
                                   {"bound by", CellSource::detail, "bound_by"}},
                       .plots = {{.title = "Two matrix products on one chip",
                                  .x_label = "size",
                                  .y_label = "throughput of the pair",
                                  .x = "size",
                                  .y = "throughput",
                                  .series = {"layout"}}}},
      .prepare = [=](harness::Backend, const Point& point) -> Prepared {
        return std::make_unique<ProductPair>(*box, point);
      },
      .what_ifs =
          [=](const Point& point) {
            std::vector<harness::WhatIf> changes;
            add_other_choices(point, kQueueing, changes);
            return changes;
          }};
}

}  // namespace howard::experiments
