// SPDX-License-Identifier: Apache-2.0
#include "python/module_query.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/query/op.h"

namespace py = pybind11;

namespace howard::python {
namespace {

using query::OpAnswer;
using Answer = std::shared_ptr<const OpAnswer>;

constexpr double kPicosecond = 1e-12;

py::list texts_of(const std::vector<TensorSpec>& specs) {
  py::list texts;
  for (const TensorSpec& spec : specs) {
    std::string text = layout_text(spec) + (spec.storage == Storage::l1 ? " l1" : "");
    if (spec.sharding) text += " " + short_text(*spec.sharding);
    texts.append(text);
  }
  return texts;
}

/// Gives every part of an answer to `visit`, by the name that Python has for it.
template <class Visit>
void each_part(const OpAnswer& answer, const Visit& visit) {
  const auto seconds = [](SimTime time) { return static_cast<double>(time.ps()) * kPicosecond; };
  visit("legal", answer.legal);
  visit("reason", answer.reason);
  visit("kernel", seconds(answer.kernel));
  visit("dispatch", seconds(answer.dispatch));
  visit("host", seconds(answer.host));
  visit("expected_error", answer.expected_error);
  visit("rests_on", std::string(answer.rests_on));
  visit("bound_by", std::string(answer.bound_by));
  visit("launches", answer.launches);
  visit("circular_buffers", answer.circular_buffers.value());
  visit("exact_buffers", answer.exact_buffers);
  visit("tensors", answer.tensors.value());
  visit("peak", answer.peak.value());
  visit("output_l1", answer.output_l1.value());
  visit("dram_of_bank", answer.dram_of_bank.value());
  visit("matmul_config", answer.matmul_config);
}

Answer ask(const query::OpModel& model, const std::string& call) {
  const py::gil_scoped_release others_run;
  return model.answer(query::parse_call(call));
}

py::dict to_dict(const OpAnswer& answer) {
  py::dict dict;
  each_part(answer, [&](const char* name, const auto& value) { dict[name] = value; });
  dict["outputs"] = texts_of(answer.outputs);
  return dict;
}

/// Returns a list for each part, in the order of the calls.
py::dict ask_all(const query::OpModel& model, const std::vector<std::string>& calls) {
  std::vector<Answer> answers;
  {
    const py::gil_scoped_release others_run;
    for (const std::string& call : calls) answers.push_back(model.answer(query::parse_call(call)));
  }
  py::dict lists;
  each_part(OpAnswer(), [&](const char* name, const auto&) { lists[name] = py::list(); });
  for (const Answer& answer : answers) {
    each_part(*answer, [&](const char* name, const auto& value) {
      lists[name].cast<py::list>().append(value);
    });
  }
  return lists;
}

}  // namespace

void bind_queries(py::module_& module) {
  py::class_<query::OpModel>(module, "_OpModel", "What howard.op_time and its kin ask.")
      .def(py::init([](const std::string& chip, const std::string& software,
                       std::vector<std::string> settings, bool eth, std::int64_t l1_small) {
             return std::make_unique<query::OpModel>(query::Target{.chip = chip,
                                                                   .software = software,
                                                                   .settings = std::move(settings),
                                                                   .eth_dispatch = eth,
                                                                   .l1_small = Bytes(l1_small)});
           }),
           py::arg("chip"), py::arg("software"), py::arg("settings"), py::arg("eth"),
           py::arg("l1_small"))
      .def("answer", [](const query::OpModel& model,
                        const std::string& call) { return to_dict(*ask(model, call)); })
      .def("answers", &ask_all);
}

}  // namespace howard::python
