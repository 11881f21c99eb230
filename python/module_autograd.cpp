// SPDX-License-Identifier: Apache-2.0
#include "python/module_autograd.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/attention/grouped_attention.h"
#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/data_movement/embedding.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/elementwise/elementwise.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/matmul/swiglu.h"
#include "engines/autograd/functions/rows/layernorm.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/optimizers/gradient_norm.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/tape.h"
#include "engines/ops/data_movement.h"
#include "python/module_device.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;
using SharedDevice = std::shared_ptr<PythonDevice>;

/// A tensor that Python's code computes with: a parameter, an input, or a value of a graph.
struct Variable {
  SharedDevice device;
  ops::Tensor value;
  std::shared_ptr<Parameter> parameter;  ///< Null: it is not trained.
  std::uint64_t graph = 0;               ///< Which graph it is a value of; 0: of none.
  Value place{};
  /// Of a loss: what its gradient is multiplied with, as loss times a number stands for that.
  std::optional<float> loss_scale{};
};

/// How TTML multiplies, and in which type.
autograd::TapeOptions tape_options(std::uint32_t seed, bool records) {
  constexpr MatmulAttributes kProducts{
      .core_grid = CoreGrid{.columns = 7, .rows = 8},
      .compute = {.fidelity = MathFidelity::hifi4, .fp32_accumulation = true}};
  return {.calls = {.products = kProducts},
          .compute = DataType::bfloat16,
          .seed = seed,
          .records = records};
}

[[noreturn]] void refuse_graph(std::string attempted, std::string value, std::string hint) {
  throw Error(
      {.attempted = std::move(attempted), .value = std::move(value), .hint = std::move(hint)});
}

/// The graph of TTML's AutoContext: a tape that is begun anew after each backward pass.
class Graph {
 public:
  Graph(SharedDevice device, std::uint32_t seed) : device_(std::move(device)) { begin(seed); }

  void reset() { begin(tape_->seed()); }
  void set_seed(std::uint32_t seed) { begin(seed); }
  void set_records(bool records) {
    records_ = records;
    reset();
  }

  Variable tensor(const PythonTensor& value) const {
    return {.device = value.device, .value = value.tensor, .parameter = nullptr};
  }
  static Variable parameter(const Variable& from, std::string name) {
    Variable made = from;
    made.parameter = std::make_shared<Parameter>(Parameter{std::move(name), from.value, {}});
    return made;
  }

  /// What `function` makes of the inputs' values: one call from Python.
  template <class Function>
  Variable run(std::initializer_list<const Variable*> inputs, const Function& function) {
    std::vector<Value> values;
    device_->charge_call();
    for (const Variable* input : inputs) values.push_back(place_of(*input));
    return made(function(*tape_, values));
  }
  Variable made(Value value) const {
    return {.device = device_,
            .value = tape_->tensor(value),
            .parameter = nullptr,
            .graph = generation_,
            .place = value};
  }
  template <class Function>
  Variable loss(const Variable& prediction, const Variable& target, bool sums,
                const Function& function) {
    Variable made = run({&prediction, &target}, function);
    made.loss_scale = 1;
    const auto count = static_cast<float>(sums ? summed(prediction, target) : 1);
    return sums ? times(made, count) : made;
  }
  /// A number times a tensor; of a loss, its gradient too.
  Variable times(const Variable& a, float factor) {
    if (!a.loss_scale) {
      return run({&a}, [&](Tape& tape, const std::vector<Value>& x) {
        return autograd::scale(tape, x[0], factor);
      });
    }
    device_->charge_call();
    Variable result = a;
    result.value = tape_->calls().multiply(a.value, factor);
    result.loss_scale = *a.loss_scale * factor;
    return result;
  }

  void backward(const Variable& output) {
    if (output.graph != generation_) {
      refuse_graph("run backward", "a tensor of a graph that is gone",
                   "a new forward pass, and backward() before reset_graph()");
    }
    if (!tape_->needs_gradient(output.place)) {
      refuse_graph("run backward", "a tensor that no parameter has made", "a model's parameters");
    }
    device_->charge_call();
    try {
      if (output.value.spec().shape.elements() != 1) {
        tape_->backward(output.place, tape_->calls().fill(1, output.value.spec()));
      } else {
        tape_->backward(output.place, output.loss_scale.value_or(1));
      }
    } catch (...) {
      reset();  // a part of the graph is gone
      throw;
    }
    reset();
  }

  Tape& tape() { return *tape_; }
  const SharedDevice& device() const { return device_; }

 private:
  void begin(std::uint32_t seed) {
    tape_.reset();
    tape_ = std::make_unique<Tape>(device_->device(), tape_options(seed, records_));
    ++generation_;
  }

  static std::int64_t summed(const Variable& prediction, const Variable& target) {
    const Shape& shape = prediction.value.spec().shape;
    const bool classes = target.value.spec().dtype == DataType::uint32;
    return classes ? target.value.spec().shape.elements() : shape.elements();
  }

  Value place_of(const Variable& input) {
    if (input.device != device_) {
      refuse_graph("run an op", "a tensor of a device that was closed", "tensors made anew");
    }
    if (input.loss_scale) {
      refuse_graph("run an op", "a loss", "numbers to multiply it with, and backward()");
    }
    if (input.parameter) return tape_->parameter(*input.parameter);
    if (input.graph == generation_) return input.place;
    const TensorSpec& spec = input.value.spec();
    const bool casts = is_float(spec.dtype) && spec.dtype != DataType::bfloat16;
    return tape_->constant(casts ? tape_->calls().cast(input.value, DataType::bfloat16)
                                 : input.value);
  }
  static bool is_float(DataType type) { return type != DataType::uint32; }

  SharedDevice device_;
  bool records_ = true;
  std::uint64_t generation_ = 0;
  std::unique_ptr<Tape> tape_;
};

/// An optimizer of parameters that Python holds.
struct PythonOptimizer {
  SharedDevice device;
  std::vector<std::shared_ptr<Parameter>> parameters;
  std::unique_ptr<autograd::Optimizer> optimizer;

  static std::vector<Parameter*> pointers(const std::vector<std::shared_ptr<Parameter>>& all) {
    std::vector<Parameter*> result;
    for (const auto& each : all) result.push_back(each.get());
    return result;
  }
  void step() {
    device->charge_call();
    optimizer->step(device->calls());
  }
  void zero_grad() {
    for (const auto& parameter : parameters) parameter->gradient.reset();
  }
};

std::vector<std::shared_ptr<Parameter>> parameters_of(const std::vector<Variable>& variables) {
  std::vector<std::shared_ptr<Parameter>> all;
  for (const Variable& variable : variables) {
    if (!variable.parameter) {
      refuse_graph("make an optimizer", "a tensor that is no parameter", "model.parameters()");
    }
    all.push_back(variable.parameter);
  }
  return all;
}

std::unique_ptr<PythonOptimizer> adamw(const SharedDevice& device,
                                       const std::vector<Variable>& variables, float rate,
                                       float beta1, float beta2, float epsilon, float decay,
                                       bool fused, bool kahan, bool amsgrad,
                                       std::optional<std::uint32_t> rounding_seed) {
  auto made =
      std::make_unique<PythonOptimizer>(PythonOptimizer{device, parameters_of(variables), nullptr});
  made->optimizer = std::make_unique<autograd::AdamW>(
      device->calls(), PythonOptimizer::pointers(made->parameters),
      AdamWAttributes{.learning_rate = rate,
                      .beta1 = beta1,
                      .beta2 = beta2,
                      .epsilon = epsilon,
                      .weight_decay = decay,
                      .amsgrad = amsgrad,
                      .kahan = kahan,
                      .rounding_seed = rounding_seed},
      fused ? autograd::AdamWForm::fused : autograd::AdamWForm::composite);
  return made;
}

std::unique_ptr<PythonOptimizer> sgd(const SharedDevice& device,
                                     const std::vector<Variable>& variables, float rate,
                                     float momentum, float dampening, float decay, bool nesterov,
                                     bool fused) {
  auto made =
      std::make_unique<PythonOptimizer>(PythonOptimizer{device, parameters_of(variables), nullptr});
  made->optimizer = std::make_unique<autograd::Sgd>(
      device->calls(), PythonOptimizer::pointers(made->parameters),
      SgdAttributes{.learning_rate = rate,
                    .momentum = momentum,
                    .dampening = dampening,
                    .weight_decay = decay,
                    .nesterov = nesterov},
      fused ? autograd::SgdForm::fused : autograd::SgdForm::composite);
  return made;
}

using Values = std::vector<Value>;

void bind_graph_arithmetic(py::class_<Graph>& graph) {
  const auto binary = [&](const char* name, Value (*function)(Tape&, Value, Value)) {
    graph.def(name, [function](Graph& self, const Variable& a, const Variable& b) {
      return self.run({&a, &b},
                      [&](Tape& tape, const Values& x) { return function(tape, x[0], x[1]); });
    });
  };
  binary("subtract", autograd::subtract);
  binary("multiply", autograd::multiply);
  binary("matmul", autograd::matmul);
  binary("embedding", autograd::embedding);
  binary("project", autograd::project);
  binary("cross_entropy_of_positions", autograd::cross_entropy_of_positions);
  binary("nll_of_positions", autograd::nll_of_positions);
  graph.def("add", [](Graph& self, const Variable& a, const Variable& b) {
    // Positions, or a row, are added to each of a batch.
    return self.run({&a, &b}, [&](Tape& tape, const Values& x) {
      const Shape& first = tape.spec(x[0]).shape;
      const Shape& second = tape.spec(x[1]).shape;
      const bool same_rows = second.rows() == first.rows() && second != first;
      return same_rows ? autograd::add_positions(tape, x[0], x[1])
                       : autograd::add(tape, x[0], x[1]);
    });
  });
  graph.def("times", &Graph::times);
  const auto unary = [&](const char* name, Value (*function)(Tape&, Value)) {
    graph.def(name, [function](Graph& self, const Variable& a) {
      return self.run({&a}, [&](Tape& tape, const Values& x) { return function(tape, x[0]); });
    });
  };
  unary("relu", autograd::relu);
  unary("silu", autograd::silu);
  unary("mean", autograd::mean);
  unary("softmax", autograd::softmax);
  unary("join_heads", autograd::join_heads);
  graph.def("gelu", [](Graph& self, const Variable& a) {
    return self.run({&a},
                    [](Tape& tape, const Values& x) { return autograd::gelu(tape, x[0], true); });
  });
  graph.def("elementwise", [](Graph& self, const Variable& a, const std::string& name) {
    return self.run({&a}, [&](Tape& tape, const Values& x) {
      for (const EltwiseEntry& entry : eltwise_catalogue()) {
        if (entry.name == name) return autograd::elementwise(tape, x[0], entry.function);
      }
      refuse_graph("run an op", "'" + name + "'", "a function of one value");
    });
  });
  graph.def("dropout", [](Graph& self, const Variable& a, float probability) {
    return self.run({&a}, [&](Tape& tape, const Values& x) {
      return autograd::dropout(tape, x[0], probability);
    });
  });
  graph.def("reshape", [](Graph& self, const Variable& a, std::array<std::int64_t, 4> shape) {
    return self.run({&a}, [&](Tape& tape, const Values& x) {
      return autograd::as_shape(tape, x[0], {shape[0], shape[1], shape[2], shape[3]});
    });
  });
}

void bind_graph_layers(py::class_<Graph>& graph) {
  graph.def("linear",
            [](Graph& self, const Variable& a, const Variable& weight, const Variable& bias) {
              return self.run({&a, &weight, &bias}, [](Tape& tape, const Values& x) {
                return autograd::fused_linear(tape, x[0], {x[1], x[2]});
              });
            });
  graph.def("layernorm", [](Graph& self, const Variable& a, const Variable& gamma,
                            const Variable& beta, bool composite) {
    return self.run({&a, &gamma, &beta}, [&](Tape& tape, const Values& x) {
      const auto norm = composite ? autograd::composed_layernorm : autograd::fused_layernorm;
      return norm(tape, x[0], {x[1], x[2]}, autograd::kLayernormEpsilon);
    });
  });
  graph.def("rms_norm", [](Graph& self, const Variable& a, const Variable& gamma, float epsilon,
                           bool composite) {
    return self.run({&a, &gamma}, [&](Tape& tape, const Values& x) {
      const auto norm = composite ? autograd::composed_rms_norm : autograd::rms_norm;
      return norm(tape, x[0], x[1], epsilon);
    });
  });
  graph.def("rotary", [](Graph& self, const Variable& a, const Variable& cosines,
                         const Variable& sines, const Variable& negative_sines) {
    return self.run({&a, &cosines, &sines, &negative_sines}, [](Tape& tape, const Values& x) {
      return autograd::rotary_embedding(tape, x[0], {x[1], x[2], x[3]}, RotaryStyle::pairs);
    });
  });
  graph.def("split_heads", [](Graph& self, const Variable& a, int heads) {
    const Variable q = self.run({&a}, [&](Tape& tape, const Values& x) {
      return autograd::split_heads(tape, x[0], heads);
    });
    return std::vector{q, self.made(q.place.next(1)), self.made(q.place.next(2))};
  });
  graph.def("grouped_heads", [](Graph& self, const Variable& q, const Variable& kv, int heads,
                                int groups) {
    const Variable first = self.run({&q, &kv}, [&](Tape& tape, const Values& x) {
      return autograd::grouped_heads(tape, x[0], x[1], heads, groups);
    });
    return std::vector{first, self.made(first.place.next(1)), self.made(first.place.next(2))};
  });
  graph.def("attention", [](Graph& self, const Variable& q, const Variable& k, const Variable& v,
                            const Variable& mask) {
    return self.run({&q, &k, &v, &mask}, [](Tape& tape, const Values& x) {
      return autograd::scaled_attention(tape, x[0], x[1], x[2], x[3]);
    });
  });
}

void bind_graph_losses(py::class_<Graph>& graph) {
  graph.def("mse_loss", [](Graph& self, const Variable& a, const Variable& b, bool sums) {
    return self.loss(a, b, sums, [](Tape& tape, const Values& x) {
      return autograd::mean_squared_error(tape, x[0], x[1]);
    });
  });
  graph.def("cross_entropy", [](Graph& self, const Variable& a, const Variable& b, bool sums) {
    return self.loss(a, b, sums, [](Tape& tape, const Values& x) {
      return autograd::mean_cross_entropy(tape, x[0], x[1]);
    });
  });
  graph.def("nll", [](Graph& self, const Variable& a, const Variable& b, bool sums) {
    return self.loss(a, b, sums, [](Tape& tape, const Values& x) {
      return autograd::mean_nll(tape, x[0], x[1]);
    });
  });
}

void bind_graph_groups(py::class_<Graph>& graph) {
  graph.def("grouped_attention", [](Graph& self, const Variable& q, const Variable& k,
                                    const Variable& v, const Variable& mask) {
    return self.run({&q, &k, &v, &mask}, [](Tape& tape, const Values& x) {
      return autograd::grouped_scaled_attention(tape, {x[0], x[1], x[2]}, x[3]);
    });
  });
  graph.def("causal_attention",
            [](Graph& self, const Variable& q, const Variable& k, const Variable& v) {
              return self.run({&q, &k, &v}, [](Tape& tape, const Values& x) {
                return autograd::causal_attention(tape, x[0], x[1], x[2]);
              });
            });
  graph.def("swiglu", [](Graph& self, const Variable& a, const Variable& gate, const Variable& down,
                         const Variable& up) {
    return self.run({&a, &gate, &down, &up}, [](Tape& tape, const Values& x) {
      return autograd::fused_swiglu(tape, x[0], {.gate = x[1], .down = x[2], .up = x[3]});
    });
  });
}

/// Binds what a cache of keys and values needs. Gradients go through neither.
void bind_graph_cache(py::class_<Graph>& graph) {
  graph.def("slice", [](Graph& self, const Variable& a, const Sides& begins, const Sides& sides) {
    return self.run({&a}, [&](Tape& tape, const Values& x) {
      const ops::Tensor& whole = tape.tensor(x[0]);
      const ops::Tensor part =
          tape.calls().make({{sides[0], sides[1], sides[2], sides[3]}, whole.spec().dtype});
      tape.calls().run(ops::slice(whole, begins, part));
      return tape.constant(part);
    });
  });
  graph.def("write_rows",
            [](Graph& self, const Variable& rows, std::int64_t first, const Variable& cache) {
              return self.run({&rows, &cache}, [&](Tape& tape, const Values& x) {
                tape.calls().run(ops::write_rows(tape.tensor(x[0]), first, tape.tensor(x[1])));
                return x[1];
              });
            });
}

void bind_variable(py::module_& module) {
  py::class_<Variable>(module, "Variable", "A tensor of a graph.")
      .def_property_readonly(
          "value",
          [](const Variable& self) {
            return PythonTensor{self.device, self.parameter ? self.parameter->value : self.value};
          })
      .def_property_readonly("shape",
                             [](const Variable& self) {
                               const auto& sides = self.value.spec().shape.dimensions();
                               return std::vector<std::int64_t>(sides.begin(), sides.end());
                             })
      .def_property_readonly("is_parameter",
                             [](const Variable& self) { return self.parameter != nullptr; })
      .def_property_readonly("gradient",
                             [](const Variable& self) -> std::optional<PythonTensor> {
                               if (!self.parameter || !self.parameter->gradient)
                                 return std::nullopt;
                               return PythonTensor{self.device, *self.parameter->gradient};
                             })
      .def("set_gradient",
           [](Variable& self, const std::optional<PythonTensor>& gradient) {
             if (!self.parameter)
               refuse_graph("set a gradient", "a tensor that is no parameter", "");
             self.parameter->gradient = gradient ? std::optional(gradient->tensor) : std::nullopt;
           })
      .def("set_value", [](Variable& self, const PythonTensor& value) {
        self.value = value.tensor;
        if (self.parameter) self.parameter->value = value.tensor;
      });
}

}  // namespace

void bind_autograd(py::module_& module) {
  bind_variable(module);
  py::class_<Graph> graph(module, "Graph", "The graph of a forward pass on a device.");
  graph.def(py::init<SharedDevice, std::uint32_t>())
      .def("reset", &Graph::reset)
      .def("set_seed", &Graph::set_seed)
      .def("set_records", &Graph::set_records)
      .def("tensor", &Graph::tensor)
      .def_static("parameter", &Graph::parameter)
      .def("backward", &Graph::backward);
  bind_graph_arithmetic(graph);
  bind_graph_layers(graph);
  bind_graph_groups(graph);
  bind_graph_losses(graph);
  bind_graph_cache(graph);
  py::class_<PythonOptimizer>(module, "Optimizer", "Updates parameters.")
      .def("step", &PythonOptimizer::step)
      .def("zero_grad", &PythonOptimizer::zero_grad)
      .def_property(
          "rate", [](const PythonOptimizer& self) { return self.optimizer->learning_rate; },
          [](PythonOptimizer& self, float rate) { self.optimizer->learning_rate = rate; });
  module.def("adamw", &adamw);
  module.def("sgd", &sgd);
  module.def("clip_gradients",
             [](const SharedDevice& device, const std::vector<Variable>& variables, float most) {
               const auto parameters = parameters_of(variables);
               device->charge_call();
               return autograd::clip_gradient_norm(device->calls(),
                                                   PythonOptimizer::pointers(parameters), most);
             });
}

}  // namespace howard::python
