// SPDX-License-Identifier: Apache-2.0
//
// Question: are the gradients right?
//
// The report checked eleven ops, each alone, against float32 PyTorch, and published the largest
// differences of ten. This experiment checks the same ops on the same kind of numbers against
// float64, and says what the check is worth: if every number of the reference is below the
// tolerance, a device that computes zeros passes too. Then it checks what the report left open: the
// gradients of every parameter of whole models, for all engines.
//
// It runs on the host only, because the emulated chip has no arithmetic of its own. What trains on
// the chip has the host's numbers. So a published difference, which comes from the chip's
// arithmetic, stands beside the host's.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/checks/model_checks.h"
#include "experiments/checks/op_checks.h"
#include "experiments/experiment.h"

namespace howard::experiments {
namespace {

using harness::CellSource;

/// Adds a number as ops compute it, which has no unit and is not a ratio.
void add_number(harness::PointResult& point, std::string name, double value) {
  point.metrics.push_back({.name = std::move(name), .value = value, .unit = ""});
}

std::string verdict(bool passes) { return passes ? "passes" : "FAILS"; }

void describe_op(const DevBox& box, const OpCheck& check, DataType dtype,
                 harness::PointResult& found) {
  const OpFinding op = check_op(*box.host(), check, dtype, box.seed());
  add_number(found, "max_difference", op.max_difference);
  add_number(found, "kernel_difference", op.kernel_difference);
  add_number(found, "max_reference", op.max_reference);
  found.details = {
      {"kind", "ops"},
      {"tolerance", fmt::format("{} + {} |reference|", check.absolute, check.relative)},
      {"verdict", verdict(op.passes)},
      {"vacuous", op.zeros_pass ? "yes: zeros pass too" : "no"}};
  if (!op.passes) found.warnings.emplace_back("beyond the tolerance");
}

void describe_model(const DevBox& box, const std::string& name, DataType dtype,
                    harness::PointResult& found) {
  const ModelFinding model =
      check_model(*box.host(), name, dtype, static_cast<std::uint32_t>(box.seed()));
  found.metrics = {{.name = "relative_difference", .value = model.max_difference, .unit = "1"}};
  found.details = {
      {"kind", "models"},
      {"worst_parameter", model.worst_parameter},
      {"parameters", fmt::format("{} in {} tensors", model.elements, model.parameters)},
      {"engines", model.engines_agree ? "dynamic = static = traced" : "DIFFER"},
      {"tolerance", fmt::format("{} of a tensor's largest", model.allowed)},
      {"verdict", verdict(model.passes)}};
  if (!model.passes) found.warnings.emplace_back("beyond the tolerance");
}

}  // namespace

Experiment gradient_check(const Box& box) {
  const WordAxis subject("op");
  std::vector<std::string> subjects;
  for (const OpCheck& check : op_checks()) subjects.emplace_back(check.op);
  subjects.insert(subjects.end(), checked_models().begin(), checked_models().end());
  const WordAxis::Words types{"bfloat16", "float32"};
  return {
      .name = "gradient_check",
      .question = "Are the gradients of ops and of whole models right, compared with float64?",
      .host_axes = {subject.of("an op alone, or a model with all its parameters", subjects),
                    harness::word_axis("dtype", "type of operands; models keep float32 parameters",
                                       types, types)},
      .presentation =
          {.columns = {{"op", CellSource::parameter, "op"},
                       {"dtype", CellSource::parameter, "dtype"},
                       {"max diff", CellSource::metric, "max_difference", harness::Room::key},
                       {"published", CellSource::reference, ""},
                       {"of the kernel", CellSource::metric, "kernel_difference"},
                       {"max |reference|", CellSource::metric, "max_reference"},
                       {"max diff / largest", CellSource::metric, "relative_difference"},
                       {"worst parameter", CellSource::detail, "worst_parameter"},
                       {"parameters", CellSource::detail, "parameters"},
                       {"engines", CellSource::detail, "engines"},
                       {"tolerance", CellSource::detail, "tolerance"},
                       {"verdict", CellSource::detail, "verdict", harness::Room::key},
                       {"vacuous", CellSource::detail, "vacuous"}},
           .table_of = "kind"},
      .prepare = [=](harness::Backend, const Point& point) -> Prepared {
        return finding(
            [=, name = point[subject], dtype = point[kDtype]](harness::PointResult& found) {
              const auto check = std::ranges::find(op_checks(), name, &OpCheck::op);
              if (check != op_checks().end()) return describe_op(*box, *check, dtype, found);
              describe_model(*box, name, dtype, found);
            });
      }};
}

}  // namespace howard::experiments
