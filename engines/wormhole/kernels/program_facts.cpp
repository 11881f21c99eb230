// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/kernels/program_facts.h"

#include <fmt/format.h>

#include "engines/wormhole/ttnn_names.h"

namespace howard::wormhole {
namespace {

std::string text(bool value) { return value ? "true" : "false"; }

/// Fills in the operation and what it was told, by its attributes. One overload for each kind, so
/// that a new one does not compile until it has a name.
struct Describer {
  const Program& program;
  const PlannedProgram& planned;
  ProgramFacts& facts;

  void name(std::string_view operation) const { facts.operation = operation; }
  void told(std::string_view name, std::string value) const {
    facts.attributes.emplace_back(name, std::move(value));
  }

  void operator()(const MatmulAttributes& attributes) const {
    name(operation::kMatmul);
    told("transpose_a", text(attributes.transpose_a));
    told("transpose_b", text(attributes.transpose_b));
    told("user_core_coord", ttnn_text(attributes.core_grid));
    if (attributes.config) told("program_config", text_of(*attributes.config));
    const MatmulPlan& plan = *planned.matmul;
    facts.fidelity = name_of(plan.fidelity);
    told("compute_kernel_config",
         fmt::format("WormholeComputeKernelConfig(math_fidelity={};fp32_dest_acc_en={})",
                     facts.fidelity, plan.fp32_accumulation ? 1 : 0));
    told("planned", plan.text());
  }
  void operator()(const EltwiseAttributes& attributes) const {
    const std::string_view function = ttnn_name(attributes.function);
    if (arity_of(attributes.function) == 2) {
      name(operation::kBinary);
      told("binary_op_type", fmt::format("BinaryOpType::{}", function));
      told("scalar", attributes.scalar ? fmt::format("{}", *attributes.scalar) : "std::nullopt");
    } else {
      name(operation::kUnary);
      told("op_chain",
           fmt::format("{{BasicUnaryWithParam<float>(op_type=UnaryOpType::{};param={{{}}})}}",
                       function, attributes.scalar.value_or(0)));
    }
    told("sub_core_grids",
         attributes.core_grid ? ttnn_range_text(*attributes.core_grid) : "std::nullopt");
  }
  void operator()(const ReduceAttributes& attributes) const {
    // ttnn's mean is a sum that is scaled on the way.
    const bool max = attributes.reduction == Reduction::max;
    if (attributes.moreh) {
      name(attributes.reduction == Reduction::mean ? operation::kMorehMean : operation::kMorehSum);
      told("dim", attributes.dimension == Dimension::columns ? "3"
                  : attributes.dimension == Dimension::rows  ? "2"
                                                             : "0");
    } else if (attributes.dimension == Dimension::batch) {
      name(operation::kReduceBatch);
    } else {
      name(operation::kReduce);
      told("math_op", max ? "ReduceOpMath::MAX" : "ReduceOpMath::SUM");
      told("dim", attributes.dimension == Dimension::columns ? "ReduceOpDim::W" : "ReduceOpDim::H");
    }
  }
  void operator()(const TransposeAttributes& attributes) const {
    name(operation::kTranspose);
    told("dim",
         attributes.swap == Swap::rows_columns ? "TransposeOpDim::WH" : "TransposeOpDim::HC");
  }
  void operator()(const ReshapeAttributes&) const { name(operation::kReshape); }
  void operator()(const LayoutAttributes&) const {
    const bool untilizes = program.outputs[0].spec.layout == Layout::row_major;
    name(untilizes ? operation::kUntilize : operation::kTilize);
  }
  void operator()(const ConcatAttributes&) const {
    name(operation::kConcat);
    told("dim", "3");
  }
  void operator()(const SplitHeadsAttributes& attributes) const {
    name(operation::kSplitHeads);
    told("num_q_heads", fmt::to_string(attributes.heads));
    told("num_kv_heads", fmt::to_string(attributes.heads));
  }
  void operator()(const ConcatHeadsAttributes&) const { name(operation::kConcatHeads); }
  void operator()(const SoftmaxAttributes&) const {
    name(operation::kSoftmax);
    told("dim", "3");
  }
  void operator()(const SoftmaxBackwardAttributes&) const {
    name(operation::kSoftmaxBackward);
    told("dim", "3");
  }
  void operator()(const LayernormAttributes& attributes) const {
    name(program.outputs.size() > 1 ? operation::kTtmlLayernorm : operation::kLayernorm);
    told("eps", fmt::format("{}", attributes.epsilon));
  }
  void operator()(const LayernormBackwardAttributes&) const { name(operation::kLayernormBackward); }
  void operator()(const GeluBackwardAttributes&) const { name(operation::kGeluBackward); }
  void operator()(const EmbeddingAttributes&) const { name(operation::kEmbedding); }
  void operator()(const EmbeddingBackwardAttributes&) const { name(operation::kEmbeddingBackward); }
  void operator()(const CrossEntropyAttributes&) const { name(operation::kCrossEntropy); }
  void operator()(const CrossEntropyBackwardAttributes&) const {
    name(operation::kCrossEntropyBackward);
  }
  void operator()(const DropoutAttributes& attributes) const {
    name(operation::kDropout);
    told("prob", fmt::format("{}", attributes.probability));
  }
  void operator()(const AdamWAttributes&) const { name(operation::kAdamW); }
};

TensorFacts facts_of(const TensorSpec& spec) {
  return {.dimensions = spec.shape.dimensions(),
          .dtype = name_of(spec.dtype),
          .layout = spec.layout == Layout::tile ? "tile" : "row_major",
          .memory = spec.storage == Storage::dram ? "dram" : "l1"};
}

/// Only the matrix unit has a peak that is worth a roofline: what the vector unit does to a tile
/// takes as long as its function does, and is time beyond the DRAM's.
ProgramWork work_of(const Program& program, const PlannedProgram& planned, CoreGrid grid,
                    const ChipProfile& chip) {
  ProgramWork work{.dram = planned.kernel.dram,
                   .peak_bandwidth = static_cast<double>(chip.dram_bandwidth.value()),
                   .cores = planned.kernel.cores,
                   .limited_by = name_of(planned.kernel.bottleneck)};
  if (const auto* const matmul = std::get_if<MatmulAttributes>(&program.attributes)) {
    const Shape& a = program.inputs[0].spec.shape;
    const std::int64_t depth = matmul->transpose_a ? a.rows() : a.columns();
    work.flops = Flops(2 * program.outputs[0].spec.shape.elements() * depth);
    work.peak_flops = chip.peak_flops(grid.cores(), planned.matmul->fidelity);
  }
  return work;
}

}  // namespace

ProgramFacts facts_of(const Program& program, const PlannedProgram& planned, CoreGrid grid,
                      const ChipProfile& chip) {
  ProgramFacts facts{.worker_cores = grid.cores(), .work = work_of(program, planned, grid, chip)};
  std::visit(Describer{program, planned, facts}, program.attributes);
  facts.attributes.emplace_back("worker_grid", ttnn_range_text(grid));
  for (const Operand& output : program.outputs) facts.outputs.push_back(facts_of(output.spec));
  for (const Operand& input : program.inputs) facts.inputs.push_back(facts_of(input.spec));
  return facts;
}

}  // namespace howard::wormhole
