// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/facts.h"

#include <optional>
#include <type_traits>
#include <utility>

#include "engines/program/ttnn_words.h"

namespace howard::chip {
namespace {

/// Returns the fidelity of the matrix unit, if it is used.
std::optional<MathFidelity> fidelity_of(const PlannedProgram& planned) {
  if (planned.matmul) return planned.matmul->fidelity;
  return std::visit(
      []<class Kind>(const Kind& op) -> std::optional<MathFidelity> {
        if constexpr (requires { op.compute; }) {
          const bool is_convolution = std::is_same_v<Kind, Conv2dAttributes>;
          return op.compute.fidelity.value_or(is_convolution ? MathFidelity::hifi4
                                                             : MathFidelity::hifi2);
        } else if constexpr (requires { op.causal; }) {
          return MathFidelity::hifi4;
        } else {
          return std::nullopt;
        }
      },
      planned.program.attributes.variant());
}

TensorFacts facts_of(const TensorSpec& spec) {
  constexpr std::string_view kMemories[][4] = {
      {"DRAM_INTERLEAVED", "DRAM_HEIGHT_SHARDED", "DRAM_WIDTH_SHARDED", "DRAM_BLOCK_SHARDED"},
      {"L1_INTERLEAVED", "L1_HEIGHT_SHARDED", "L1_WIDTH_SHARDED", "L1_BLOCK_SHARDED"}};
  const std::size_t cut = spec.sharding ? 1 + static_cast<std::size_t>(spec.sharding->layout) : 0;
  return {.dimensions = spec.shape.dimensions(),
          .dtype = name_of(spec.dtype),
          .layout = spec.layout == Layout::tile ? "tile" : "row_major",
          .memory = kMemories[static_cast<std::size_t>(spec.storage)][cut]};
}

/// Returns the work and the peaks of a launch. Only the matrix unit has a peak that suits a
/// roofline: the vector unit's time for a tile depends on its function and adds to that of the
/// DRAM.
ProgramWork work_of(const PlannedProgram& planned, const ChipProfile& chip) {
  const Program& program = planned.program;
  const Flops flops =
      flops_of(program.attributes, specs_of(program.inputs), specs_of(program.outputs));
  ProgramWork work{.flops = flops,
                   .dram = planned.kernel.dram,
                   .peak_bandwidth = static_cast<double>(chip.dram_bandwidth.value()),
                   .cores = planned.kernel.cores,
                   .limited_by = name_of(planned.kernel.bottleneck)};
  if (flops != Flops()) {
    // Programs of TTML always use HiFi4.
    work.peak_flops =
        chip.peak_flops(planned.grid.cores(), fidelity_of(planned).value_or(MathFidelity::hifi4));
  }
  return work;
}

}  // namespace

Attributes as_planned(const PlannedProgram& planned) {
  Attributes attributes = planned.program.attributes;
  std::visit(
      [&](auto& op) {
        if constexpr (requires { op.compute; }) {
          op.compute.fidelity = fidelity_of(planned);
          op.compute.fp32_accumulation = op.compute.fp32_accumulation.value_or(false);
        }
        if constexpr (requires { op.block_m; }) op.core_grid = planned.kernel.grid;
        const auto take = [&](ComputeConfig& compute) {
          const MatmulPlan& plan = *planned.matmul;
          compute = {plan.fidelity, plan.fp32_accumulation, plan.packer_accumulates};
        };
        if constexpr (requires { op.transpose_a; }) take(op.compute);
        if constexpr (requires { op.matmul; }) take(op.matmul.compute);
      },
      attributes.variant());
  return attributes;
}

ProgramFacts facts_of(const PlannedProgram& planned, const ChipProfile& chip) {
  const Program& program = planned.program;
  const SpecList in = specs_of(program.inputs), out = specs_of(program.outputs);
  TtnnWords words = ttnn_words(as_planned(planned), in, out);
  ProgramFacts facts{.operation = words.operation,
                     .worker_cores = planned.grid.cores(),
                     .attributes = std::move(words.attributes),
                     .work = work_of(planned, chip)};
  if (const auto fidelity = fidelity_of(planned)) facts.fidelity = name_of(*fidelity);
  if (planned.matmul) facts.attributes.emplace_back("planned", planned.matmul->text());
  facts.attributes.emplace_back("worker_grid", ttnn_range_text(planned.grid));
  for (const TensorSpec& spec : out) facts.outputs.push_back(facts_of(spec));
  for (std::size_t i = 0; i < in.size(); ++i) {
    // The handle of a group is no tensor.
    if (i == 1 && is_collective(program.attributes)) continue;
    facts.inputs.push_back(facts_of(in[i]));
  }
  if (std::holds_alternative<DecodeAttentionAttributes>(program.attributes)) {
    // A log has [1, sequences, heads, d].
    const Sides& q = in[0].shape.dimensions();
    facts.inputs[0].dimensions = facts.outputs[0].dimensions = {1, q[0], q[1] * q[2], q[3]};
  }
  return facts;
}

}  // namespace howard::chip
