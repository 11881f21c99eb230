// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/four_networks.h"

#include <utility>

#include "engines/ops/tensor.h"

namespace howard::experiments {

using ops::Tensor;

FourNetworks::Network::Network(Device& device)
    : x(device, {{kBatch, kWidth}}),
      weights{Tensor(device, {{kWidth, kWidth}}), Tensor(device, {{kWidth, kWidth}})},
      biases{Tensor(device, {{kWidth}}), Tensor(device, {{kWidth}})} {}

/// Enqueues the six calls of a forward pass. Each allocates its result, as ttnn does.
class FourNetworks::ForwardPass {
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
    const Tensor out(device_, results_of(attributes, std::array{x.spec(), weight.spec()})[0]);
    launch(make_program(attributes, {x, weight}, {out}));
    return out;
  }
  Tensor add(const Tensor& x, const Tensor& bias) {
    const Tensor out(device_, x.spec());
    launch(make_program(eltwise_of(Eltwise::add), {x, bias}, {out}));
    return out;
  }
  Tensor unary(Eltwise function, const Tensor& x) {
    const Tensor out(device_, x.spec());
    Program program = make_program(eltwise_of(function), {x}, {out});
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

FourNetworks::FourNetworks(chip::EmulatedChip& chip, CoreParts parts) : chip_(chip) {
  place(parts);
  for (int i = 0; i < kNetworks; ++i) networks_.emplace_back(chip);
}

void FourNetworks::place(CoreParts parts) {
  if (parts == CoreParts::full_grid) placements_.assign(kNetworks, {});
  if (parts == CoreParts::partitioned) {
    placements_.assign(kNetworks, {.core_grid = CoreGrid{2, 4}});
  }
  if (parts != CoreParts::disjoint) return;
  const CoreGrid all = chip_.compute_grid();
  const int columns = all.columns / kNetworks;
  std::vector<CoreRange> strips;
  for (int i = 0; i < kNetworks; ++i) {
    strips.push_back({i * columns, 0, (i + 1) * columns - 1, all.rows - 1});
    placements_.push_back(
        {.core_grid = strips.back().size(), .fidelity = MathFidelity::hifi2, .sub_device = i});
  }
  chip_.set_sub_devices(strips);
}

void FourNetworks::enqueue() {
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    ForwardPass(chip_, placements_[i]).enqueue(networks_[i]);
  }
}

TraceId FourNetworks::capture() {
  CommandQueue& queue = chip_.command_queue(0);
  queue.begin_trace_capture();
  enqueue();
  return queue.end_trace_capture();
}

}  // namespace howard::experiments
