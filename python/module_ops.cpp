// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training.h"
#include "python/module_device.h"
#include "python/op_docs.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using autograd::Calls;
using Tensors = std::vector<PythonTensor>;

void require_one_device(const PythonDevice& device, const PythonTensor& tensor) {
  if (tensor.device.get() == &device) return;
  throw Error({.attempted = "run an op",
               .value = "its tensors are on two devices",
               .accepted = "tensors of one device"});
}

/// Says that an op is called with `tensors`. Error unless they are on one device.
const Calls& call(std::initializer_list<const PythonTensor*> tensors) {
  PythonDevice& device = *(*tensors.begin())->device;
  for (const PythonTensor* tensor : tensors) require_one_device(device, *tensor);
  device.charge_call();
  return device.calls();
}

PythonTensor beside(const PythonTensor& input, ops::Tensor result) {
  return {input.device, std::move(result)};
}

Tensors all_beside(const PythonTensor& input, std::vector<ops::Tensor> results) {
  Tensors all;
  for (ops::Tensor& result : results) all.push_back(beside(input, std::move(result)));
  return all;
}

template <class Value>
Value parse_name(std::string_view what, std::string_view word,
                 std::initializer_list<std::pair<std::string_view, Value>> names) {
  std::string accepted;
  for (const auto& [name, value] : names) {
    if (word == name) return value;
    accepted += (accepted.empty() ? "" : ", ") + std::string(name);
  }
  throw Error({.attempted = "read a " + std::string(what),
               .value = "'" + std::string(word) + "'",
               .accepted = accepted});
}

Dimension parse_dimension(std::string_view word) {
  return parse_name<Dimension>("dimension", word,
                               {{"columns", Dimension::columns},
                                {"rows", Dimension::rows},
                                {"batch", Dimension::batch},
                                {"all", Dimension::all}});
}

PythonTensor matmul(const PythonTensor& a, const PythonTensor& b, bool transpose_a,
                    bool transpose_b, const std::optional<std::string>& fidelity,
                    std::optional<bool> fp32_accumulation,
                    const std::optional<PythonTensor>& bias) {
  MatmulAttributes attributes{.transpose_a = transpose_a, .transpose_b = transpose_b};
  if (fidelity) attributes.compute.fidelity = parse_math_fidelity(*fidelity);
  attributes.compute.fp32_accumulation = fp32_accumulation;
  const Calls& calls = bias ? call({&a, &b, &*bias}) : call({&a, &b});
  const ops::Tensor out =
      calls.make(results_of(attributes, std::array{a.tensor.spec(), b.tensor.spec()})[0]);
  calls.run(bias ? make_program(attributes, {a.tensor, b.tensor, bias->tensor}, {out})
                 : make_program(attributes, {a.tensor, b.tensor}, {out}));
  return beside(a, out);
}

void bind_matmul(py::module_& module) {
  module.def("matmul", &matmul, py::arg("a"), py::arg("b"), py::kw_only(),
             py::arg("transpose_a") = false, py::arg("transpose_b") = false,
             py::arg("fidelity") = py::none(), py::arg("fp32_accumulation") = py::none(),
             py::arg("bias") = py::none(), docs::kMatmul);
}

/// Returns the first words of an elementwise function's docstring.
std::string doc_of(Eltwise function) {
  switch (function) {
    case Eltwise::add:
      return "a + b";
    case Eltwise::subtract:
      return "a - b";
    case Eltwise::multiply:
      return "a b";
    case Eltwise::relu:
      return "max(0, a)";
    case Eltwise::gtz:
      return "1 where a > 0, else 0,";
    case Eltwise::square:
      return "a a";
    case Eltwise::exp:
      return "e to the power of a";
    case Eltwise::erf:
      return "The error function";
    case Eltwise::gelu:
      return "The exact gelu, a (1 + erf(a / sqrt(2))) / 2,";
    case Eltwise::sqrt:
      return "The square root";
    case Eltwise::rsqrt:
      return "1 / sqrt(a)";
    case Eltwise::reciprocal:
      return "1 / a";
    default:
      return std::string(name_of(function));
  }
}

void bind_eltwise(py::module_& module) {
  for (const Eltwise function : {Eltwise::add, Eltwise::subtract, Eltwise::multiply}) {
    const std::string name(name_of(function));
    const std::string doc = doc_of(function) + docs::kBinary;
    module.def(
        name.c_str(),
        [function](const PythonTensor& a, const PythonTensor& b) {
          return beside(a, call({&a, &b}).eltwise(function, a.tensor, b.tensor));
        },
        py::arg("a"), py::arg("b"), doc.c_str());
    module.def(
        name.c_str(),
        [function](const PythonTensor& a, float scalar) {
          return beside(a, call({&a}).eltwise(function, a.tensor, scalar));
        },
        py::arg("a"), py::arg("scalar"), doc.c_str());
  }
  for (const Eltwise function :
       {Eltwise::relu, Eltwise::gtz, Eltwise::square, Eltwise::exp, Eltwise::erf, Eltwise::gelu,
        Eltwise::sqrt, Eltwise::rsqrt, Eltwise::reciprocal}) {
    const std::string name(name_of(function));
    const std::string doc = doc_of(function) + docs::kUnary;
    module.def(
        name.c_str(),
        [function](const PythonTensor& a) {
          return beside(a, call({&a}).eltwise(function, a.tensor));
        },
        py::arg("a"), doc.c_str());
  }
  module.def(
      "full_like",
      [](const PythonTensor& a, float value) {
        return beside(a, call({&a}).fill(value, a.tensor.spec()));
      },
      py::arg("a"), py::arg("value"), docs::kFullLike);
  module.def(
      "cast",
      [](const PythonTensor& a, std::string_view dtype) {
        return beside(a, call({&a}).cast(a.tensor, parse_data_type(dtype)));
      },
      py::arg("a"), py::arg("dtype"), docs::kCast);
  module.def(
      "gelu_backward",
      [](const PythonTensor& x, const PythonTensor& dy, bool fused) {
        return beside(
            x, call({&x, &dy}).call(GeluBackwardAttributes{.fused = fused}, {x.tensor, dy.tensor}));
      },
      py::arg("x"), py::arg("dy"), py::arg("fused") = false, docs::kGeluBackward);
}

PythonTensor reduced(Reduction reduction, const PythonTensor& a, std::string_view dimension) {
  const Dimension along = parse_dimension(dimension);
  return beside(a, call({&a}).reduce(reduction, along, a.tensor));
}

void bind_rows(py::module_& module) {
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    const std::string doc = "The " + std::string(name_of(reduction)) + docs::kReduce;
    module.def(
        std::string(name_of(reduction)).c_str(),
        [reduction](const PythonTensor& a, std::string_view dimension) {
          return reduced(reduction, a, dimension);
        },
        py::arg("a"), py::arg("dimension") = "all", doc.c_str());
  }
  module.def(
      "softmax",
      [](const PythonTensor& a) {
        return beside(a, call({&a}).call(SoftmaxAttributes{}, {a.tensor}));
      },
      py::arg("a"), docs::kSoftmax);
  module.def(
      "softmax_backward",
      [](const PythonTensor& y, const PythonTensor& dy) {
        return beside(y, call({&y, &dy}).call(SoftmaxBackwardAttributes{}, {y.tensor, dy.tensor}));
      },
      py::arg("y"), py::arg("dy"), docs::kSoftmaxBackward);
  module.def(
      "layernorm",
      [](const PythonTensor& x, float epsilon) {
        return beside(x, call({&x}).call(LayernormAttributes{.epsilon = epsilon}, {x.tensor}));
      },
      py::arg("x"), py::arg("epsilon") = 1e-5F, docs::kLayernormPlain);
}

void bind_layernorm(py::module_& module) {
  module.def(
      "layernorm",
      [](const PythonTensor& x, const PythonTensor& gamma, const PythonTensor& beta,
         float epsilon) {
        return all_beside(x, call({&x, &gamma, &beta})
                                 .call_all(TtmlLayernormAttributes{.epsilon = epsilon},
                                           {x.tensor, gamma.tensor, beta.tensor}));
      },
      py::arg("x"), py::arg("gamma"), py::arg("beta"), py::arg("epsilon") = 1e-5F,
      docs::kLayernorm);
  module.def(
      "layernorm_backward",
      [](const PythonTensor& x, const PythonTensor& gamma, const PythonTensor& mean,
         const PythonTensor& rstd, const PythonTensor& dy) {
        return all_beside(
            x, call({&x, &gamma, &mean, &rstd, &dy})
                   .call_all(LayernormBackwardAttributes{},
                             {x.tensor, gamma.tensor, mean.tensor, rstd.tensor, dy.tensor}));
      },
      py::arg("x"), py::arg("gamma"), py::arg("mean"), py::arg("rstd"), py::arg("dy"),
      docs::kLayernormBackward);
}

void bind_movement(py::module_& module) {
  module.def(
      "transpose",
      [](const PythonTensor& a, std::string_view swap) {
        const Swap which = parse_name<Swap>(
            "swap", swap, {{"rows_columns", Swap::rows_columns}, {"heads_rows", Swap::heads_rows}});
        return beside(a, call({&a}).transpose(a.tensor, which));
      },
      py::arg("a"), py::arg("swap") = "rows_columns", docs::kTranspose);
  module.def(
      "reshape",
      [](const PythonTensor& a, const std::vector<std::int64_t>& shape) {
        if (shape.size() > 4 || shape.empty()) {
          throw Error({.attempted = "reshape a tensor",
                       .value = std::to_string(shape.size()) + " dimensions",
                       .accepted = "one to four"});
        }
        std::vector<std::int64_t> padded(4 - shape.size(), 1);
        padded.insert(padded.end(), shape.begin(), shape.end());
        return beside(a,
                      call({&a}).as_shape(a.tensor, {padded[0], padded[1], padded[2], padded[3]}));
      },
      py::arg("a"), py::arg("shape"), docs::kReshape);
  module.def(
      "to_layout",
      [](const PythonTensor& a, std::string_view layout) {
        const Layout to = parse_name<Layout>(
            "layout", layout, {{"tile", Layout::tile}, {"row_major", Layout::row_major}});
        return beside(a, call({&a}).to_layout(a.tensor, to));
      },
      py::arg("a"), py::arg("layout"), docs::kToLayout);
  module.def(
      "split_heads",
      [](const PythonTensor& qkv, int heads) {
        return all_beside(
            qkv, call({&qkv}).call_all(SplitHeadsAttributes{.heads = heads}, {qkv.tensor}));
      },
      py::arg("qkv"), py::arg("heads"), docs::kSplitHeads);
  module.def(
      "concat_heads",
      [](const PythonTensor& a) {
        return beside(a, call({&a}).call(ConcatHeadsAttributes{}, {a.tensor}));
      },
      py::arg("a"), docs::kConcatHeads);
}

void bind_training(py::module_& module) {
  module.def(
      "embedding",
      [](const PythonTensor& indices, const PythonTensor& table) {
        return beside(
            table,
            call({&indices, &table}).call(EmbeddingAttributes{}, {indices.tensor, table.tensor}));
      },
      py::arg("indices"), py::arg("table"), docs::kEmbedding);
  module.def(
      "embedding_backward",
      [](const PythonTensor& indices, const PythonTensor& dy, std::int64_t vocabulary) {
        const TensorSpec& spec = dy.tensor.spec();
        return beside(dy, call({&indices, &dy})
                              .call(EmbeddingBackwardAttributes{}, {indices.tensor, dy.tensor},
                                    {{vocabulary, spec.shape.columns()}, spec.dtype}));
      },
      py::arg("indices"), py::arg("dy"), py::arg("vocabulary"), docs::kEmbeddingBackward);
  module.def(
      "cross_entropy",
      [](const PythonTensor& logits, const PythonTensor& targets) {
        return beside(logits, call({&logits, &targets})
                                  .call(CrossEntropyAttributes{}, {logits.tensor, targets.tensor}));
      },
      py::arg("logits"), py::arg("targets"), docs::kCrossEntropy);
  module.def(
      "cross_entropy_backward",
      [](const PythonTensor& logits, const PythonTensor& targets, float scale) {
        return beside(logits, call({&logits, &targets})
                                  .call(CrossEntropyBackwardAttributes{.scale = scale},
                                        {logits.tensor, targets.tensor}));
      },
      py::arg("logits"), py::arg("targets"), py::arg("scale") = 1.0F, docs::kCrossEntropyBackward);
  module.def(
      "dropout",
      [](const PythonTensor& a, float probability, std::uint32_t seed) {
        return beside(a,
                      call({&a}).call(DropoutAttributes{.probability = probability, .seed = seed},
                                      {a.tensor}));
      },
      py::arg("a"), py::arg("probability"), py::arg("seed"), docs::kDropout);
  module.def(
      "adamw",
      [](const PythonTensor& parameter, const PythonTensor& gradient, const PythonTensor& first,
         const PythonTensor& second, std::int64_t step, float learning_rate, float beta1,
         float beta2, float epsilon, float weight_decay) {
        call({&parameter, &gradient, &first, &second})
            .run(ops::adamw(parameter.tensor, gradient.tensor, {first.tensor, second.tensor},
                            {learning_rate, beta1, beta2, epsilon, weight_decay, step}));
      },
      py::arg("parameter"), py::arg("gradient"), py::arg("first_moment"), py::arg("second_moment"),
      py::kw_only(), py::arg("step"), py::arg("learning_rate") = 1e-3F, py::arg("beta1") = 0.9F,
      py::arg("beta2") = 0.999F, py::arg("epsilon") = 1e-8F, py::arg("weight_decay") = 0.01F,
      docs::kAdamw);
}

Tensors call_by_name(const std::string& text, const Tensors& tensors) {
  const auto op = ops::parse_op_call(text);
  if (!op) {
    std::vector<std::string> names;
    for (const ops::OpEntry& entry : ops::op_catalogue()) names.push_back(entry.name);
    const auto instead = closest(text, names);
    throw Error({.attempted = "run the op '" + text + "'",
                 .value = "there is none of that name",
                 .accepted = join(names, ", "),
                 .hint = instead.value_or("")});
  }
  if (tensors.size() != op->op->tensors) {
    throw Error({.attempted = "run the op '" + text + "'",
                 .value = std::to_string(tensors.size()) + " tensors",
                 .accepted = std::to_string(op->op->tensors)});
  }
  std::vector<ops::Tensor> inputs;
  for (const PythonTensor& tensor : tensors) {
    require_one_device(*tensors.front().device, tensor);
    inputs.push_back(tensor.tensor);
  }
  return all_beside(tensors.front(), call({&tensors.front()}).call(*op, inputs));
}

/// Any op of the catalogue, by the text that lists of ops have.
void bind_catalogue(py::module_& module) {
  module.def(
      "call",
      [](const std::string& op, const py::args& tensors) -> py::object {
        Tensors results = call_by_name(op, tensors.cast<Tensors>());
        if (results.size() == 1) return py::cast(results.front());
        return py::cast(results);
      },
      py::arg("op"), docs::kCall);
  module.def(
      "op_names",
      [] {
        std::vector<std::string> names;
        for (const ops::OpEntry& entry : ops::op_catalogue()) names.push_back(entry.name);
        return names;
      },
      docs::kOpNames);
}

}  // namespace

void bind_ops(py::module_& module) {
  bind_catalogue(module);
  bind_matmul(module);
  bind_eltwise(module);
  bind_rows(module);
  bind_layernorm(module);
  bind_movement(module);
  bind_training(module);
}

}  // namespace howard::python
