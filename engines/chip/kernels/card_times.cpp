// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/card_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/wide.h"
#include "engines/chip/kernels/facts.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/program/ttnn_words.h"

namespace howard::chip {
namespace {

/// Returns the op with what was planned, whether or not the caller had said so.
Attributes told_of(const PlannedProgram& planned) {
  Attributes attributes = without_values(as_planned(planned));
  if (auto* const product = std::get_if<MatmulAttributes>(&attributes)) {
    product->config = config_of(*planned.matmul);
    product->core_grid.reset();
  } else {
    std::visit(
        [](auto& op) {
          if constexpr (requires { op.compute; }) op.compute.packer_accumulates.reset();
        },
        attributes.variant());
  }
  return attributes;
}

/// Returns `time` times `of` / `whole`.
SimTime part_of(SimTime time, SimTime of, SimTime whole) {
  return SimTime::picoseconds(static_cast<std::int64_t>(Wide{time.ps()} * of.ps() / whole.ps()));
}

}  // namespace

std::string text_of(std::span<const Operand> operands) {
  std::string text;
  for (const auto& [buffer, spec] : operands) {
    text += (text.empty() ? "" : ", ") + layout_text(spec);
    if (spec.storage == Storage::l1) text += " in L1";
    if (spec.sharding) text += ", " + spec.sharding->text();
  }
  return text;
}

LaunchWords words_of(const PlannedProgram& planned) {
  const Program& program = planned.program;
  const TtnnWords words =
      ttnn_words(told_of(planned), specs_of(program.inputs), specs_of(program.outputs));
  std::string told;
  for (const auto& [name, value] : words.attributes) {
    told += fmt::format("{}{}={}", told.empty() ? "" : "; ", name, value);
  }
  return {.op = std::string(name_of(program.attributes)),
          .in = text_of(program.inputs),
          .out = text_of(program.outputs),
          .told = std::move(told),
          .grid = fmt::format("{}x{}", planned.grid.columns, planned.grid.rows)};
}

std::string kind_of(const PlannedProgram& planned) {
  std::string kind(name_of(planned.program.attributes));
  if (planned.matmul) kind += fmt::format(" {}", name_of(planned.matmul->config.kind));
  const auto in_l1 = [](const Operand& operand) { return operand.spec.storage == Storage::l1; };
  if (std::ranges::any_of(planned.program.inputs, in_l1)) kind += " in L1";
  return kind;
}

void take_card(const Card& card, PlannedProgram& planned) {
  KernelCost& kernel = planned.kernel;
  const SimTime whole = kernel.total;
  if (whole == SimTime()) return;
  SimTime time;
  const LaunchWords words = words_of(planned);
  if (const CardKernel* const measured = card.find(words)) {
    time = measured->time;
    planned.learnt = &measured->band;
  } else if (const CardShapes* const shapes = card.find_shapes(words)) {
    time = part_of(whole, shapes->time, shapes->built_in);
    planned.learnt = &shapes->band;
  } else if (const CardKind* const kind = card.find(kind_of(planned))) {
    time = part_of(whole, SimTime::picoseconds(kind->factor), SimTime::picoseconds(CardKind::kOne));
    planned.learnt = &kind->band;
  } else {
    return;
  }
  for (SimTime* const part : {&kernel.compute_start, &kernel.reads_end, &kernel.first_write,
                              &kernel.math_end, &kernel.unshared, &kernel.total}) {
    *part = part_of(*part, time, whole);
  }
}

}  // namespace howard::chip
