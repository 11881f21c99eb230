// SPDX-License-Identifier: Apache-2.0
#include "experiments/python_mlp.h"

#include "engines/autograd/calls.h"
#include "engines/autograd/host_values.h"
#include "engines/ops/eltwise.h"

namespace howard::experiments {
namespace {

using autograd::Calls;
using ops::Tensor;

constexpr float kLearningRate = 0.01F;

/// What the benchmark asks for in its two forward products; the backward ones have ttnn's default.
constexpr MatmulAttributes kForwardProducts{
    .compute = {.fidelity = MathFidelity::hifi3, .fp32_accumulation = true}};

/// Weights [in, out].
struct PythonMlp {
  PythonMlp(Device& device, std::int64_t batch, std::int64_t width)
      : x(device, {.shape = {batch, width}}),
        target(device, x.spec()),
        first(device, {.shape = {width, width}}),
        second(device, first.spec()) {}

  Tensor x, target;
  Tensor first, second;
};

/// Says of each result that it was called for from Python.
class PythonStep {
 public:
  PythonStep(Device& device, const PythonMlp& model)
      : model_(model), calls_(device), forward_(device, kForwardProducts) {}

  Tensor run() const {
    const Tensor sum = called(forward_.matmul(model_.x, model_.first));
    const Tensor hidden = called(calls_.eltwise(Eltwise::relu, sum));
    const Tensor prediction = called(forward_.matmul(hidden, model_.second));
    const Tensor difference = called(calls_.subtract(prediction, model_.target));
    const Tensor squares = called(calls_.multiply(difference, difference));
    const auto elements = static_cast<float>(model_.x.spec().shape.elements());
    Tensor loss = called(calls_.multiply(
        called(calls_.reduce(Reduction::sum, Dimension::all, squares)), 1 / elements));
    called(calls_.fill(1, loss.spec()));

    const Tensor gradient = called(calls_.multiply(difference, 2 / elements));
    const Tensor through = called(calls_.matmul(gradient, model_.second, Calls::Transposed::b));
    const Tensor of_second = called(calls_.matmul(hidden, gradient, Calls::Transposed::a));
    const Tensor mask = called(calls_.eltwise(Eltwise::gtz, sum));
    const Tensor masked = called(calls_.multiply(through, mask));
    const Tensor of_first = called(calls_.matmul(model_.x, masked, Calls::Transposed::a));
    update(model_.first, of_first);
    update(model_.second, of_second);
    return loss;
  }

 private:
  Tensor called(Tensor result) const {
    calls_.device().host_work(HostWork::python_call, 1);
    return result;
  }

  void update(const Tensor& weight, const Tensor& gradient) const {
    const Tensor rate = called(calls_.fill(kLearningRate, gradient.spec()));
    const Tensor change = called(calls_.multiply(gradient, rate));
    calls_.run(ops::eltwise(Eltwise::subtract, weight, change, weight));
    called(weight);
  }

  const PythonMlp& model_;
  Calls calls_;
  Calls forward_;
};

}  // namespace

Training train_python_mlp(Device& device, std::int64_t batch, std::int64_t width) {
  const auto model = std::make_shared<PythonMlp>(device, batch, width);
  if (device.holds_values()) {
    CommandQueue& queue = device.command_queue(0);
    autograd::write_constant(queue, model->first, 0.01F);
    autograd::write_constant(queue, model->second, 0.01F);
    autograd::write_constant(queue, model->x, 1);
    autograd::write_constant(queue, model->target, 0.5F);
  }
  return {.step = [&model = *model](Device& on) { return PythonStep(on, model).run(); },
          .parameters = {},
          .model = model};
}

}  // namespace howard::experiments
