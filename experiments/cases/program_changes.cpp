// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/program_changes.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>

#include "engines/program/fields.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

const auto kProductWeights = choice_axis<std::optional<DataType>>(
    "weights", "bfloat8_b: second operands of products; not set: as asked for",
    {{"asked", std::nullopt}, {"bfloat8_b", DataType::bfloat8_b}}, "asked");
const auto kMovements =
    choice_axis<bool>("movements", "none: without reshapes, transpositions and layout conversions",
                      {{"asked", true}, {"none", false}}, "asked");

/// Returns how a product computes; null if it is none.
template <class Some>
auto* compute_of(Some& attributes) {
  if (auto* const product = std::get_if<MatmulAttributes>(&attributes)) return &product->compute;
  auto* const minimal = std::get_if<MinimalMatmulAttributes>(&attributes);
  return minimal == nullptr ? nullptr : &minimal->compute;
}

bool is_wide(DataType type) { return type == DataType::bfloat16 || type == DataType::float32; }

bool moves(const Attributes& attributes) {
  const auto is = [&]<class... Ops>() { return (std::holds_alternative<Ops>(attributes) || ...); };
  return is
      .template operator()<ReshapeAttributes, LayoutAttributes, TransposeAttributes,
                           SplitHeadsAttributes, SplitGroupsAttributes, ConcatHeadsAttributes>();
}

}  // namespace

bool ProgramChanges::apply(Program& program) const {
  if (!movements && moves(program.attributes)) return false;
  auto* const compute = compute_of(program.attributes);
  if (compute == nullptr) return true;
  if (fidelity) compute->fidelity = fidelity;
  DataType& type = program.inputs.at(1).spec.dtype;
  if (weights && is_wide(type)) type = *weights;
  return true;
}

Work ProgramChanges::applied_to(Work work) const {
  for (WorkGroup& group : work) {
    std::vector<WorkCall> kept;
    for (WorkCall& call : group.calls) {
      if (apply(call.program)) kept.push_back(std::move(call));
    }
    group.calls = std::move(kept);
  }
  return work;
}

void add_change_axes(std::vector<harness::Axis>& axes) {
  axes.push_back(kFidelity.optional());
  axes.push_back(kProductWeights.optional());
  axes.push_back(kMovements.optional());
}

ProgramChanges changes_of(const Point& point) {
  return {.fidelity = point[kFidelity],
          .weights = point[kProductWeights],
          .movements = point[kMovements]};
}

ChangeablePrograms::ChangeablePrograms(const Work& work) {
  for (const WorkGroup& group : work) {
    for (const WorkCall& call : group.calls) add(call.program);
  }
}

ChangeablePrograms::ChangeablePrograms(const workload::Workload& workload) {
  std::vector<Attributes> ops;
  for (const workload::OpLine& op : workload.ops) {
    ops.push_back(parse_attributes(op.kernel, op.attributes));
  }
  for (const workload::CallLine& call : workload.calls) {
    add(ops.at(call.op),
        call.inputs.size() < 2 ? nullptr : &workload.tensors.at(call.inputs[1]).spec);
  }
}

void ChangeablePrograms::add(const Program& program) {
  add(program.attributes, program.inputs.size() < 2 ? nullptr : &program.inputs[1].spec);
}

void ChangeablePrograms::add(const Attributes& attributes, const TensorSpec* second) {
  movements_ = movements_ || moves(attributes);
  const auto* const compute = compute_of(attributes);
  if (compute == nullptr) return;
  fidelities_.insert(compute->fidelity);
  wide_weights_ = wide_weights_ || is_wide(second->dtype);
}

std::vector<harness::WhatIf> ChangeablePrograms::what_ifs(const Point& point) const {
  constexpr const char* kNoProduct = "it has no matrix product";
  const auto change = [&](std::string what, const auto& axis, const auto& value,
                          std::string obstacle) -> harness::WhatIf {
    if (!obstacle.empty()) return {std::move(what), {}, std::move(obstacle)};
    return set_axis(std::move(what), point, axis, value, "it is so already");
  };
  const auto fidelity = [&](MathFidelity wanted) {
    const bool has_it =
        !point[kFidelity] && fidelities_ == std::set{std::optional<MathFidelity>(wanted)};
    return change(fmt::format("math fidelity {}", name_of(wanted)), kFidelity, wanted,
                  fidelities_.empty() ? kNoProduct
                  : has_it            ? "its products have it already"
                                      : "");
  };
  return {fidelity(MathFidelity::hifi2), fidelity(MathFidelity::lofi),
          change("weights in bfloat8_b", kProductWeights, DataType::bfloat8_b,
                 fidelities_.empty() ? kNoProduct
                 : wide_weights_     ? ""
                                     : "they are in a block format already"),
          change("without movements, at best", kMovements, false, movements_ ? "" : "it has none")};
}

}  // namespace howard::experiments
