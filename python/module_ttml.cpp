// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_node.h"
#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/attention/grouped_attention.h"
#include "engines/autograd/functions/attention/latent_parts.h"
#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/data_movement/columns.h"
#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/autograd/functions/rows/layernorm.h"
#include "engines/autograd/functions/rows/loss.h"
#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/functions/rows/routing.h"
#include "engines/autograd/functions/rows/weighted_loss.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/optimizers/muon.h"
#include "engines/autograd/optimizers/schedule.h"
#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/host/host_device.h"
#include "engines/program/fields.h"
#include "python/module_device.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using autograd::SlopeForm;
using autograd::StepRecorder;
using autograd::Tape;
using autograd::Value;
using Values = std::vector<Value>;

/// The numbers that a function of TTML takes besides its tensors.
class Arguments {
 public:
  explicit Arguments(std::span<const double> numbers) : numbers_(numbers) {}

  float real(std::size_t i) const { return static_cast<float>(numbers_[i]); }
  int whole(std::size_t i) const { return static_cast<int>(numbers_[i]); }
  bool flag(std::size_t i) const { return numbers_[i] != 0; }

 private:
  std::span<const double> numbers_;
};

using Operands = const Values&;

// The forms in which functions take their operands and numbers.

template <auto kFunction>
Values of_one(Tape& tape, Operands v, Arguments) {
  return {kFunction(tape, v[0])};
}

template <auto kFunction>
Values of_two(Tape& tape, Operands v, Arguments) {
  return {kFunction(tape, v[0], v[1])};
}

template <auto kFunction>
Values of_one_and_count(Tape& tape, Operands v, Arguments n) {
  return {kFunction(tape, v[0], n.whole(0))};
}

template <auto kFunction>
Values of_two_and_number(Tape& tape, Operands v, Arguments n) {
  return {kFunction(tape, v[0], v[1], n.real(0))};
}

/// A norm with gamma and beta; without a beta it is zeros, which take a program.
template <auto kFunction>
Values layernorm(Tape& tape, Operands v, Arguments n) {
  const Value beta = v.size() > 2 ? v[2] : tape.constant(tape.calls().fill(0, tape.spec(v[1])));
  return {kFunction(tape, v[0], {v[1], beta}, n.real(0))};
}

Values row_of(Value first, std::uint32_t count) {
  Values values;
  for (std::uint32_t i = 0; i < count; ++i) values.push_back(first.next(i));
  return values;
}

Values linear(Tape& tape, Operands v, Arguments) {
  return {v.size() > 2 ? autograd::fused_linear(tape, v[0], {v[1], v[2]})
                       : autograd::project(tape, v[0], v[1])};
}

Values polynomial(Tape& tape, Operands v, Arguments n) {
  return {autograd::polynomial_norm(tape, v[0], {n.real(0), n.real(1), n.real(2)}, n.real(3),
                                    n.real(4))};
}

Values rope(Tape& tape, Operands v, Arguments) {
  return {autograd::rotary_embedding(tape, v[0], {v[1], v[2], v[3]}, RotaryStyle::pairs)};
}

Values squared_error(Tape& tape, Operands v, Arguments) {
  const Value difference = autograd::subtract(tape, v[1], v[0]);
  return {autograd::mean(tape, autograd::multiply(tape, difference, difference), true)};
}

template <bool kOfLogarithms>
Values loss_at_targets(Tape& tape, Operands v, Arguments) {
  return {autograd::mean_cross_entropy(tape, v[0], v[1], SlopeForm::given, kOfLogarithms)};
}

std::optional<Value> mask_of(Operands v) {
  return v.size() > 3 ? std::optional(v[3]) : std::nullopt;
}

Values attention(Tape& tape, Operands v, Arguments) {
  return {autograd::fused_attention(tape, v[0], v[1], v[2], mask_of(v))};
}

Values composite_attention(Tape& tape, Operands v, Arguments) {
  return {autograd::grouped_attention(tape, {v[0], v[1], v[2]}, mask_of(v))};
}

struct Function {
  std::string_view name;
  Values (*run)(Tape& tape, Operands values, Arguments numbers);
};

/// The functions of TTML by the names that they have in howard.ttml.
constexpr std::array kFunctions{
    Function{"add", &of_two<autograd::add>},
    Function{"subtract", &of_two<autograd::subtract>},
    Function{"multiply", &of_two<autograd::multiply>},
    Function{"minimum", &of_two<autograd::minimum>},
    Function{"maximum", &of_two<autograd::maximum>},
    Function{"divide", &of_two<autograd::divide>},
    Function{"gated", &of_two<autograd::gated>},
    Function{"cross_entropies", &of_two<autograd::cross_entropies>},
    Function{"relu", &of_one<autograd::relu>},
    Function{"exp", &of_one<autograd::exp>},
    Function{"sigmoid", &of_one<autograd::sigmoid>},
    Function{"softmax", &of_one<autograd::softmax>},
    Function{"log_softmax", &of_one<autograd::log_softmax>},
    Function{"heads_fusion", &of_one<autograd::join_heads>},
    Function{"split_heads", &of_one_and_count<autograd::separate_heads>},
    Function{"repeated_heads", &of_one_and_count<autograd::repeated_head>},
    Function{"rmsnorm", &of_two_and_number<autograd::rms_norm>},
    Function{"rmsnorm_composite", &of_two_and_number<autograd::composed_rms_norm>},
    Function{"rmsnorm_scaled", &of_two_and_number<autograd::scaled_rms_norm>},
    Function{"moe_routing_normalize", &of_two_and_number<autograd::normalized_shares>},
    Function{"layernorm", &layernorm<autograd::fused_layernorm>},
    Function{"composite_layernorm", &layernorm<autograd::composed_layernorm>},
    Function{"linear", &linear},
    Function{"polynorm3", &polynomial},
    Function{"rope", &rope},
    Function{"mse_loss", &squared_error},
    Function{"cross_entropy_loss", &loss_at_targets<false>},
    Function{"nll_loss", &loss_at_targets<true>},
    Function{"attention", &attention},
    Function{"composite_attention", &composite_attention},
    Function{"scale", [](Tape& t, Operands v,
                         Arguments n) { return Values{autograd::scale(t, v[0], n.real(0))}; }},
    Function{"mean",
             [](Tape& t, Operands v, Arguments) { return Values{autograd::mean(t, v[0], true)}; }},
    Function{"gelu",
             [](Tape& t, Operands v, Arguments) { return Values{autograd::gelu(t, v[0], true)}; }},
    Function{"silu", [](Tape& t, Operands v,
                        Arguments n) { return Values{autograd::silu(t, v[0], n.flag(0))}; }},
    Function{"clip",
             [](Tape& t, Operands v, Arguments n) {
               return Values{autograd::clip(t, v[0], n.real(0), n.real(1))};
             }},
    Function{"matmul_op",
             [](Tape& t, Operands v, Arguments n) {
               return Values{autograd::product(t, v[0], v[1], n.flag(0), n.flag(1))};
             }},
    Function{"columns",
             [](Tape& t, Operands v, Arguments n) {
               return Values{autograd::columns_of(t, v[0], n.whole(0), n.whole(1))};
             }},
    Function{"scaled_rows",
             [](Tape& t, Operands v, Arguments n) {
               return Values{autograd::scaled_rows(t, v[0], v[1], n.whole(0))};
             }},
    Function{"heads_creation",
             [](Tape& t, Operands v, Arguments n) {
               return row_of(autograd::split_heads(t, v[0], n.whole(0)), 3);
             }},
    Function{"grouped_heads_creation", [](Tape& t, Operands v, Arguments n) {
               return row_of(autograd::grouped_heads(t, v[0], v[1], n.whole(0), n.whole(1)), 3);
             }}};

/// Makes a dictionary of the fields that an op has. How products are computed is the caller's.
struct FieldWriter {
  py::dict to;

  template <class Field, class... Limits>
  void operator()(const FieldName& name, const Field& value, const Limits&... limits) {
    if constexpr (requires { write(value, limits...); }) {
      const py::object written = write(value, limits...);
      if (!written.is_none()) to[py::str(std::string(name.own))] = written;
    }
  }

  template <class Number>
  requires std::is_arithmetic_v<Number>
  static py::object write(Number value) { return py::cast(value); }
  template <class Number>
  requires std::is_integral_v<Number>
  static py::object write(Number value, const Whole&) { return py::cast(value); }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  static py::object write(const std::optional<Number>& value) { return py::cast(value); }
  static py::object write(const std::optional<std::uint32_t>& value, const Whole&) {
    return py::cast(value);
  }
  template <class Number, std::size_t count>
  static py::object write(const std::array<Number, count>& value) {
    return py::cast(value);
  }
  template <class Number, std::size_t count>
  static py::object write(const std::array<Number, count>& value, const Whole&) {
    return py::cast(value);
  }
  template <class Choice, std::size_t count>
  requires std::is_enum_v<Choice>
  static py::object write(Choice value, const std::array<std::string_view, count>& words) {
    return py::cast(std::string(words.at(static_cast<std::size_t>(value))));
  }
  static py::object write(const std::vector<EltwiseStep>& value) {
    py::list names;
    for (const EltwiseStep& step : value) names.append(std::string(name_of(step.function)));
    return value.empty() ? py::object(py::none()) : py::object(names);
  }
};

/// An operand as Python describes it: its shape, type and whether it lies in rows.
using Described = std::tuple<std::array<std::int64_t, 4>, std::string, bool>;

TensorSpec spec_of(const Described& given) {
  const auto& [d, dtype, row_major] = given;
  return {.shape = {d[0], d[1], d[2], d[3]},
          .dtype = parse_data_type(dtype),
          .layout = row_major ? Layout::row_major : Layout::tile};
}

/// Records what functions and optimizers enqueue, as Python replays it. Tensors have numbers, from
/// 0 for the first that is made here.
class Recording {
 public:
  ops::Tensor make(const Described& given) { return make(spec_of(given)); }
  ops::Tensor make(const TensorSpec& spec) {
    ops::Tensor tensor(recorder_, spec);
    if (!first_) first_ = tensor.buffer();
    return tensor;
  }
  StepRecorder& device() { return recorder_; }
  std::size_t count() const { return recorder_.programs().size(); }
  std::int64_t number(const ops::Tensor& tensor) const { return number(tensor.buffer()); }

  std::size_t tensors() const { return recorder_.buffers().size(); }

  /// The programs from `first` up to `end`: the kernel, its fields, the operands and the results.
  py::list programs(std::size_t first, std::size_t end) const {
    py::list all;
    for (const Program& program : std::span(recorder_.programs()).subspan(first, end - first)) {
      FieldWriter fields;
      std::visit(
          [&](const auto& op) {
            if constexpr (requires { op.fields(op, fields); }) op.fields(op, fields);
          },
          program.attributes.variant());
      all.append(py::make_tuple(std::string(name_of(program.attributes)), fields.to,
                                ends(program.inputs), ends(program.outputs)));
    }
    return all;
  }

  /// The number of a tensor, its shape, its type and whether it lies in rows.
  py::tuple end_of(const Operand& one) const {
    const auto& d = one.spec.shape.dimensions();
    return py::make_tuple(number(one.buffer), py::make_tuple(d[0], d[1], d[2], d[3]),
                          std::string(name_of(one.spec.dtype)),
                          one.spec.layout == Layout::row_major);
  }

 private:
  std::int64_t number(BufferId buffer) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(buffer) -
                                     static_cast<std::uint64_t>(*first_));
  }
  py::list ends(std::span<const Operand> operands) const {
    py::list all;
    for (const Operand& one : operands) all.append(end_of(one));
    return all;
  }

  static Device& behind() {
    static host::HostDevice device;
    return device;
  }

  StepRecorder recorder_{behind()};
  std::optional<BufferId> first_;
};

/// Begins the backward pass of several outputs with a gradient for each.
struct Gradients {
  Value first_output, first_gradient;
  std::uint32_t count;

  void backward(Tape& tape, Value) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      tape.accumulate(first_output.next(i), tape.tensor(first_gradient.next(i)));
    }
  }
};

/// Runs the tape backward from all outputs of a function, and returns the gradients of the wanted
/// operands that have one.
py::dict gradients_of(Tape& tape, Recording& recording, const Values& operands,
                      const Values& outputs, py::list& incoming, std::size_t& end) {
  py::dict found;
  if (!tape.needs_gradient(outputs[0])) return found;
  Values gradients;
  for (const Value output : outputs) {
    gradients.push_back(tape.constant(recording.make(tape.spec(output))));
    incoming.append(recording.number(tape.tensor(gradients.back())));
  }
  const ops::Tensor start = tape.tensor(outputs[0]);
  const Gradients node{outputs[0], gradients[0], static_cast<std::uint32_t>(outputs.size())};
  tape.backward(tape.record(start, {outputs[0]}, node), start);
  end = recording.count();
  const auto known = static_cast<std::int64_t>(recording.tensors());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!tape.needs_gradient(operands[i])) continue;
    const ops::Tensor gradient = tape.gradient(operands[i]);
    // What came to be only now is zeros: nothing used the operand.
    if (recording.number(gradient) < known) found[py::cast(i)] = recording.end_of(gradient);
  }
  return found;
}

/// Returns what a function computes: its programs forward and backward, the results, the numbers of
/// their gradients, and the gradients of the operands that are wanted. The first numbers are those
/// of the operands.
py::tuple plan(const std::string& name, const std::vector<Described>& operands,
               const std::vector<bool>& wanted, const std::vector<double>& numbers) {
  const auto* found = std::ranges::find(kFunctions, name, &Function::name);
  if (found == kFunctions.end()) {
    throw Error({.attempted = "plan a function of TTML",
                 .value = "'" + name + "'",
                 .accepted = "those of engines/autograd/functions"});
  }
  Recording recording;
  Tape tape(recording.device());
  Values values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ops::Tensor tensor = recording.make(operands[i]);
    values.push_back(wanted.at(i) ? tape.leaf(tensor) : tape.constant(tensor));
  }
  const Values outputs = found->run(tape, values, Arguments(numbers));
  const std::size_t forward = recording.count();
  py::list results, incoming;
  for (const Value output : outputs) results.append(recording.end_of(tape.tensor(output)));
  std::size_t end = forward;
  const py::dict gradients = gradients_of(tape, recording, values, outputs, incoming, end);
  return py::make_tuple(recording.programs(0, forward), recording.programs(forward, end), results,
                        incoming, gradients);
}

using Optimizer = std::unique_ptr<autograd::Optimizer>;

/// The caller leaves the dampening out of the first step itself.
constexpr std::int64_t kLaterStep = 2;

/// Makes one of TTML's optimizers. Its numbers are the fields of its program; Muon's are its own.
Optimizer optimizer_of(const std::string& kind, const std::string& fields,
                       const autograd::Calls& calls,
                       const std::vector<autograd::Parameter*>& parameters) {
  if (kind == "muon") {
    const JsonDocument text(fields, {.attempted = "read Muon's numbers", .accepted = "JSON"});
    const JsonNode& numbers = text.root();
    return std::make_unique<autograd::Muon>(
        calls, parameters, static_cast<float>(numbers.member("learning_rate").number()),
        autograd::MuonNumbers{static_cast<float>(numbers.member("momentum").number()),
                              static_cast<int>(numbers.member("iterations").number())});
  }
  const bool composite = kind.ends_with("_composite");
  const std::string kernel = kind.substr(0, kind.find("_composite"));
  const Attributes attributes = parse_attributes(kernel, fields);
  if (const auto* adamw = std::get_if<AdamWAttributes>(&attributes.variant())) {
    return std::make_unique<autograd::AdamW>(
        calls, parameters, *adamw,
        composite ? autograd::AdamWForm::composite : autograd::AdamWForm::fused);
  }
  const auto& sgd = std::get<SgdAttributes>(attributes.variant());
  auto made = std::make_unique<autograd::Sgd>(
      calls, parameters, sgd, composite ? autograd::SgdForm::composite : autograd::SgdForm::fused);
  made->set_numbers({.step = kLaterStep, .learning_rate = sgd.learning_rate});
  return made;
}

/// Returns the programs of an optimizer's step for a parameter, which has the number 0, with its
/// gradient, which has 1, and the numbers of the tensors that are kept for it.
py::tuple step(const std::string& kind, const std::string& fields, const Described& parameter,
               const Described& gradient) {
  Recording recording;
  autograd::Parameter one{"parameter", recording.make(parameter), recording.make(gradient)};
  const autograd::Calls calls(recording.device());
  const Optimizer optimizer = optimizer_of(kind, fields, calls, {&one});
  const std::size_t first = recording.count();
  py::list kept;
  for (const autograd::KeptTensor& tensor : optimizer->kept(0)) {
    kept.append(recording.number(tensor.tensor));
  }
  optimizer->step(calls);
  return py::make_tuple(recording.programs(first, recording.count()), kept);
}

}  // namespace

void bind_training(py::module_& module) {
  module.def("plan", &plan);
  module.def("step", &step);
}

}  // namespace howard::python
