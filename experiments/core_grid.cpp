// SPDX-License-Identifier: Apache-2.0
//
// Question: do four independent networks run faster side by side, each on a part of the cores, than
// one after the other on all of them, on one command queue?
//
// The report (part 3, CoreGrid table) found 1.226 ms on the full grid against 1.814 ms partitioned.
// Its partitions are 2x4 cores each, 24 of 56 cores are never used, and ttnn's core_grid is a size:
// all four partitions' products run on the same 8 cores, at LoFi, where the full grid has HiFi2.
// Nothing runs side by side.
//
// `partitioned` runs that; `disjoint` what the text says: each network has a sub-device of 2x7
// cores, and HiFi2, so that programs of different networks can run at the same time on the one
// queue.
//
// Timing: four forward passes of a 2-layer MLP, batch 512, width 1024 (24 calls: product with the
// transposed weight, bias, mask, relu, product, bias); traced: a replay; 5 warm-up and 10 timed
// iterations, a finish after each; mean.

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "engines/ops/eltwise.h"
#include "engines/ops/matmul.h"
#include "engines/ops/tensor.h"
#include "experiments/all.h"
#include "experiments/axes.h"
#include "experiments/emulated_case.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::find_parameter;
using harness::Parameters;
using harness::PointResult;
using ops::Tensor;

constexpr int kNetworks = 4;
constexpr std::int64_t kBatch = 512;
constexpr std::int64_t kWidth = 1024;

/// What a forward pass is told about cores.
struct Placement {
  std::optional<CoreGrid> core_grid;     ///< Of the products and of mask and relu.
  std::optional<MathFidelity> fidelity;  ///< Of the products; none: ttnn's default.
  int sub_device = 0;
};

struct Network {
  explicit Network(Device& device)
      : x(device, {{kBatch, kWidth}}),
        weights{Tensor(device, {{kWidth, kWidth}}), Tensor(device, {{kWidth, kWidth}})},
        biases{Tensor(device, {{kWidth}}), Tensor(device, {{kWidth}})} {}

  Tensor x;
  std::array<Tensor, 2> weights, biases;
};

/// Enqueues the six calls of a forward pass; each allocates its result, as ttnn does.
class ForwardPass {
 public:
  ForwardPass(Device& device, const Placement& placement)
      : device_(device), placement_(placement) {}

  void enqueue(const Network& network) {
    const Tensor product = linear(network.x, network.weights[0]);
    const Tensor sum = add(product, network.biases[0]);
    unary(Eltwise::gtz, sum);
    const Tensor hidden = unary(Eltwise::relu, sum);
    add(linear(hidden, network.weights[1]), network.biases[1]);
  }

 private:
  Tensor linear(const Tensor& x, const Tensor& weight) {
    const MatmulAttributes attributes{.transpose_b = true,
                                      .core_grid = placement_.core_grid,
                                      .compute = {.fidelity = placement_.fidelity}};
    const Tensor out(device_, ops::matmul_output(x.spec(), weight.spec(), attributes));
    launch(ops::matmul(x, weight, out, attributes));
    return out;
  }
  Tensor add(const Tensor& x, const Tensor& bias) {
    const Tensor out(device_, x.spec());
    launch(ops::eltwise(Eltwise::add, x, bias, out));
    return out;
  }
  Tensor unary(Eltwise function, const Tensor& x) {
    const Tensor out(device_, x.spec());
    Program program = ops::eltwise(function, x, out);
    std::get<EltwiseAttributes>(program.attributes).core_grid = placement_.core_grid;
    launch(std::move(program));
    return out;
  }
  void launch(Program program) {
    program.sub_device = placement_.sub_device;
    device_.command_queue(0).enqueue(program);
  }

  Device& device_;
  Placement placement_;
};

class FourNetworks final : public EmulatedCase {
 public:
  FourNetworks(const DevBox& box, const Parameters& parameters)
      : EmulatedCase(box.open_wormhole()) {
    place(*find_parameter(parameters, "config"));
    for (int i = 0; i < kNetworks; ++i) networks_.emplace_back(device());
    if (*find_parameter(parameters, "traced") == "no") return;
    queue().begin_trace_capture();
    enqueue_all();
    trace_ = queue().end_trace_capture();
  }

  void run() override {
    if (trace_) {
      queue().execute_trace(*trace_);
    } else {
      enqueue_all();
    }
    queue().finish();
  }
  void finish() override {}

  void describe(double seconds, PointResult& point) const override {
    const auto products = static_cast<double>(2 * kNetworks);
    const double flops = products * 2 * kBatch * kWidth * kWidth;
    point.metrics.push_back({.name = "throughput",
                             .value = flops / seconds,
                             .unit = "FLOP/s",
                             .better = harness::Better::higher});
  }

 private:
  void place(std::string_view config) {
    if (config == "full_grid") placements_.assign(kNetworks, {});
    if (config == "partitioned") placements_.assign(kNetworks, {.core_grid = CoreGrid{2, 4}});
    if (config != "disjoint") return;
    const CoreGrid all = device().compute_grid();
    const int columns = all.columns / kNetworks;
    std::vector<CoreRange> strips;
    for (int i = 0; i < kNetworks; ++i) {
      strips.push_back({i * columns, 0, (i + 1) * columns - 1, all.rows - 1});
      placements_.push_back(
          {.core_grid = strips.back().size(), .fidelity = MathFidelity::hifi2, .sub_device = i});
    }
    device().set_sub_devices(strips);
  }

  void enqueue_all() {
    for (std::size_t i = 0; i < networks_.size(); ++i) {
      ForwardPass(device(), placements_[i]).enqueue(networks_[i]);
    }
  }

  std::vector<Placement> placements_;
  std::vector<Network> networks_;
  std::optional<TraceId> trace_;
};

class CoreGridExperiment final : public harness::Experiment {
 public:
  explicit CoreGridExperiment(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "core_grid"; }
  std::string_view question() const override {
    return "four networks on parts of the cores against all cores for each in turn";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    return {harness::word_axis("config", "all cores for each, the published parts, or real parts",
                               {"full_grid", "partitioned", "disjoint"},
                               {"full_grid", "partitioned", "disjoint"}),
            harness::word_axis("traced", "replay of a trace, or call by call", {"yes", "no"},
                               {"yes", "no"})};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 5, .iterations = 10}; }

  harness::Presentation presentation() const override {
    return {.columns = {{"config", CellSource::parameter, "config"},
                        {"traced", CellSource::parameter, "traced"},
                        {"time", CellSource::metric, "time"},
                        {"rate", CellSource::metric, "throughput"},
                        {"published", CellSource::reference, ""},
                        {"error", CellSource::error, ""}},
            .plots = {}};
  }

  std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable> prepare(
      Backend, const Parameters& parameters) const override {
    return std::make_unique<FourNetworks>(*box_, parameters);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> core_grid(std::shared_ptr<const DevBox> box) {
  return std::make_unique<CoreGridExperiment>(std::move(box));
}

}  // namespace howard::experiments
