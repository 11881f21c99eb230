// SPDX-License-Identifier: Apache-2.0
//
// Question: what do a few ops of your own take, one after the other?
//
// `ops` is the shape of a matrix, RxC, and what is done to it: 1024x512/linear:2048/gelu is a
// product with a [512, 2048] weight, the addition of a bias and a gelu. Weights and other operands
// exist before; each op's result is the next one's operand. The engines of a training step run the
// list: call by call with a result allocated for each (dynamic), call by call with planned buffers
// (static), or replayed (traced).
//
// Timing: 5 passes warm up and 20 are timed, with one finish at the end; the result is the mean.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/autograd/calls.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/tensor.h"
#include "experiments/cases/half_batches.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/training_case.h"
#include "experiments/cases/work.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using autograd::Calls;
using harness::Backend;
using harness::CellSource;
using ops::Tensor;

/// Names the ops that are written otherwise than those of the catalogue.
enum class Form {
  listed,
  matmul,          ///< A product with a weight [columns, N].
  linear,          ///< A product with a weight [N, columns], and the addition of a bias.
  minimal_matmul,  ///< The product by ttnn's minimal_matmul.
  bias,            ///< The addition of a row.
};

const std::map<std::string, Form, std::less<>> kForms{{"matmul", Form::matmul},
                                                      {"linear", Form::linear},
                                                      {"minimal_matmul", Form::minimal_matmul},
                                                      {"bias", Form::bias}};

struct ListedOp {
  Form form{};
  std::int64_t columns = 0;  ///< The columns of a product's result; else 0.
  ops::OpCall call{};        ///< An op of the catalogue.
};

/// What the axis `ops` says.
struct ListedOps {
  std::string text;
  std::int64_t rows = 0, columns = 0;  ///< The shape of the input.
  std::vector<ListedOp> ops;
};

[[noreturn]] void refuse_list(std::string_view text, std::string_view part, std::string accepted,
                              const std::optional<std::string>& instead = std::nullopt) {
  throw Error({.attempted = fmt::format("read ops '{}'", text),
               .value = fmt::format("'{}'", part),
               .accepted = std::move(accepted),
               .hint = instead ? *instead : "-a ops=1024x512/linear:2048/gelu/linear:512/softmax"});
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  constexpr std::int64_t kLargest = 1 << 20;
  const auto size = parse_integer(text);
  return size && *size >= 1 && *size <= kLargest ? size : std::nullopt;
}

[[noreturn]] void reject_op(std::string_view list, const std::string& text,
                            const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [form, known] : kForms) names.push_back(form);
  for (const ops::OpEntry& op : ops::op_catalogue()) names.push_back(op.name);
  refuse_list(list, text, join(names, ", "), closest(name, names));
}

ListedOp parse_op(std::string_view list, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const auto form = kForms.find(parts[0]);
  if (form == kForms.end()) {
    const auto call = ops::parse_op_call(text);
    if (!call) reject_op(list, text, parts[0]);
    return {.form = Form::listed, .call = *call};
  }
  const bool product = form->second != Form::bias;
  const auto columns = parts.size() == 2 ? parse_size(parts[1]) : std::nullopt;
  if (product && columns) return {.form = form->second, .columns = *columns};
  if (!product && parts.size() == 1) return {.form = form->second};
  refuse_list(
      list, text,
      product ? form->first + ":N, N the columns of the weight, 1 to 1048576" : form->first);
}

/// Returns the calls of a pass. The first operand of each is the first result of the one before.
/// Throws Error when an op cannot take it.
WorkGroup work_of(const ListedOps& list, MatmulAttributes product = {}, bool fused = false) {
  WorkGroup work;
  TensorSpec x{.shape = {list.rows, list.columns}};
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return Operand({.shape = {rows, columns}});
  };
  const auto add = [&](Program program) {
    x = program.outputs[0].spec;
    work.calls.push_back({.part = program.name, .program = std::move(program)});
  };
  for (const ListedOp& op : list.ops) {
    const std::int64_t columns = x.shape.columns();
    product.transpose_b = op.form == Form::linear;
    switch (op.form) {
      case Form::matmul:
        add(make_program(product, {x, matrix(columns, op.columns)}));
        break;
      case Form::minimal_matmul:
        add(make_program(MinimalMatmulAttributes{}, {x, matrix(columns, op.columns)}));
        break;
      case Form::linear: {
        const Operand turned = matrix(op.columns, columns), bias = matrix(1, op.columns);
        if (fused) {
          add(make_program(product, {x, turned, bias}));
        } else {
          add(make_program(product, {x, turned}));
          add(make_program(eltwise_of(Eltwise::add), {x, bias}));
        }
        break;
      }
      case Form::bias:
        add(make_program(eltwise_of(Eltwise::add), {x, matrix(1, columns)}));
        break;
      case Form::listed: {
        SpecList inputs = op.call.beside(x);
        inputs.insert(inputs.begin(), x);
        const SpecList outputs = op.call.results(inputs);
        add(op.call.program({inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}));
      }
    }
  }
  return work;
}

ListedOps parse_ops(std::string_view text) {
  const std::vector<std::string> parts = split(text, '/');
  const std::vector<std::string> sizes = split(parts[0], 'x');
  const auto rows = parse_size(sizes[0]);
  const auto columns = sizes.size() == 2 ? parse_size(sizes[1]) : std::nullopt;
  if (!rows || !columns)
    refuse_list(text, parts[0], "RxC first, rows and columns from 1 to 1048576");
  if (parts.size() == 1) refuse_list(text, parts[0], "one op or more after it");
  ListedOps list{.text = std::string(text), .rows = *rows, .columns = *columns, .ops = {}};
  for (std::size_t i = 1; i < parts.size(); ++i) list.ops.push_back(parse_op(text, parts[i]));
  static_cast<void>(work_of(list));
  return list;
}

/// Holds the operands of a pass on a device, and makes its calls.
class Pass {
 public:
  Pass(Device& device, WorkGroup work)
      : work_(std::move(work)), input_(device, work_.calls[0].program.inputs[0].spec) {
    for (const WorkCall& call : work_.calls) {
      std::vector<Tensor>& own = beside_.emplace_back();
      for (std::size_t i = 1; i < call.program.inputs.size(); ++i) {
        own.emplace_back(device, call.program.inputs[i].spec);
      }
    }
  }

  Tensor run(const Calls& calls) const {
    Tensor x = input_;
    for (std::size_t i = 0; i < work_.calls.size(); ++i) {
      Program program = work_.calls[i].program;
      program.inputs[0] = x;
      std::ranges::copy(beside_[i], program.inputs.begin() + 1);
      std::vector<Tensor> results;
      for (Operand& output : program.outputs)
        output = results.emplace_back(calls.make(output.spec));
      calls.run(program);
      x = results[0];
    }
    return x;
  }

 private:
  WorkGroup work_;
  Tensor input_;
  std::vector<std::vector<Tensor>> beside_;  ///< What each call needs beside its first operand.
};

/// Returns a pass as a step without anything to train.
Training pass(Device& device, const WorkGroup& work) {
  const auto made = std::make_shared<Pass>(device, work);
  return {.step = [&pass = *made](Device& on) { return pass.run(Calls(on)); },
          .parameters = {},
          .model = made};
}

const TypedAxis<ListedOps> kOps{
    .name = "ops",
    .meaning =
        "RxC/OP/OP: matmul:N, linear:N, minimal_matmul:N, bias, and all ops of the "
        "catalogue: add, silu, "
        "clamp:0:6, softmax, rms_norm, transpose, ...; add+relu in one kernel",
    .parse = parse_ops,
    .print = [](const ListedOps& ops) { return ops.text; }};

std::vector<harness::Axis> op_list_axes() {
  std::vector<harness::Axis> axes{kOps.with({"1024x512/layernorm/linear:2048/gelu/linear:512/add"}),
                                  kEngine.of("call by call, with planned buffers, or a replay",
                                             {"dynamic", "static", "traced"})};
  add_training_axes(axes, Backend::emulated, {"worker"});
  return axes;
}

std::vector<harness::WhatIf> op_list_what_ifs(const DevBox& box, const Point& point) {
  std::vector<harness::WhatIf> changes = training_what_ifs(box, point);
  const ListedOps list = point[kOps];
  if (std::ranges::none_of(list.ops, [](const ListedOp& op) { return op.form == Form::linear; })) {
    const auto fusing = std::ranges::find(changes, "fusing", &harness::WhatIf::what);
    *fusing = {"fusing", {}, "it has no linear, whose bias could be added by the product"};
  }
  const std::string ops = list.text.substr(list.text.find('/'));
  changes.push_back(pad("pad rows", "ops", list.rows, [&, columns = list.columns](auto rows) {
    return fmt::format("{}x{}{}", rows, columns, ops);
  }));
  changes.push_back(pad("pad columns", "ops", list.columns, [&, rows = list.rows](auto columns) {
    return fmt::format("{}x{}{}", rows, columns, ops);
  }));
  return changes;
}

}  // namespace

Experiment op_list(const Box& box) {
  return {.name = "op_list",
          .question = "How long do a few ops of your own take, one after the other?",
          .is_tool = true,
          .axes = op_list_axes(),
          .timing = {.warmup = 5, .iterations = 20},
          .presentation = {.timed = "a pass over the ops, one finish after all",
                           .columns = {{"ops", CellSource::parameter, "ops"},
                                       {"engine", CellSource::parameter, "engine"},
                                       {"dispatch", CellSource::parameter, "dispatch"},
                                       {"time", CellSource::metric, "time"},
                                       expected_error_column(),
                                       {"rate", CellSource::metric, "throughput"},
                                       {"launches", CellSource::detail, "launches"},
                                       {"kernels", CellSource::metric, "kernel_time"},
                                       {"host", CellSource::metric, "host_time"},
                                       {"bound by", CellSource::detail, "bound_by"}}},
          .prepare = [=](Backend backend, const Point& point) -> Prepared {
            if (auto reason = missing_cores(box->profiles().chip, point)) {
              return harness::NotApplicable{std::move(*reason)};
            }
            TrainingOptions options = training_options(backend, point);
            options.as_published = false;
            ListedOps list = point[kOps];
            if (options.queues == 2) list.rows = half_of(list.rows);
            const WorkGroup work = work_of(list, options.products, options.fused);
            const auto make = [&](Device& device) { return pass(device, work); };
            if (options.queues == 2) return half_batches(*box, options, make);
            return std::make_unique<TrainingCase>(*box, options, make);
          },
          .what_ifs = [=](const Point& point) { return op_list_what_ifs(*box, point); }};
}

}  // namespace howard::experiments
