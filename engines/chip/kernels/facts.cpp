// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/chip/kernels/ttnn_names.h"

namespace howard::chip {
namespace {

/// Returns ttnn's name of the operation that moves `from` to `to`.
std::string_view move_operation(const TensorSpec& from, const TensorSpec& to) {
  if (from.sharding && to.sharding) return "ReshardDeviceOperation";
  if (to.sharding) return "InterleavedToShardedDeviceOperation";
  if (from.sharding) return "ShardedToInterleavedDeviceOperation";
  return "CopyDeviceOperation";
}

/// Fills in the operation and its arguments. There is one overload for each kind of attributes, so
/// that a new kind does not compile until it has a name.
struct Describer {
  const Program& program;
  const PlannedProgram& planned;
  ProgramFacts& facts;

  void name(std::string_view operation) const { facts.operation = operation; }
  void told(std::string_view name, std::string value) const {
    facts.attributes.emplace_back(name, std::move(value));
  }

  void told_activation(std::string_view name, const std::optional<EltwiseStep>& activation) const {
    if (activation) told(name, ttnn_chain(std::span(&*activation, 1)));
  }

  /// Describes an op whose fields ttnn prints by the same names.
  template <class Kind>
  requires requires { Kind::kTtnn; }
  void operator()(const Kind& op) const {
    name(op.kTtnn);
    if constexpr (requires { op.fields(op, [](auto&&...) {}); }) {
      op.fields(op, [&](std::string_view field, const auto& value, const auto&...) {
        told(field, fmt::to_string(value));
      });
    }
  }

  /// Tells what the arithmetic of a kernel with ttnn's default of HiFi2 is.
  void told_compute(const ComputeConfig& compute) const {
    facts.fidelity = name_of(compute.fidelity.value_or(MathFidelity::hifi2));
    const auto& packer = compute.packer_accumulates;
    told("compute_kernel_config",
         fmt::format("WormholeComputeKernelConfig(math_fidelity={};fp32_dest_acc_en={}{})",
                     facts.fidelity, compute.fp32_accumulation.value_or(false) ? 1 : 0,
                     packer ? fmt::format(";packer_l1_acc={}", *packer ? 1 : 0) : ""));
  }

  /// Tells how the devices exchange `whole`, of which each has `part` before or afterwards.
  void told_exchange(int dimension, const LinkUse& use, const Operand& whole,
                     const Operand& part) const {
    told("dim", fmt::to_string(dimension));
    told("num_links", fmt::to_string(use.links));
    told("ring_size", fmt::to_string(whole.spec.shape.elements() / part.spec.shape.elements()));
    told("topology", use.ring ? "Topology::Ring" : "Topology::Linear");
    const auto told_count = [&](std::string_view name, int count) {
      if (count > 0) told(name, fmt::to_string(count));
    };
    told_count("chunks_per_sync", use.chunk);
    told_count("num_workers_per_link", use.workers);
    told_count("num_buffers_per_channel", use.buffers);
  }
  void operator()(const AllGatherAttributes& op) const {
    name(operation::kAllGather);
    told_exchange(op.dimension, op.use, program.outputs[0], program.inputs[0]);
  }
  void operator()(const ReduceScatterAttributes& op) const {
    name(operation::kReduceScatter);
    told_exchange(op.side(), op.use, program.inputs[0], program.outputs[0]);
  }
  void operator()(const AllGatherMatmulAttributes& op) const {
    (*this)(op.matmul);
    name("AllGatherMatmulAsyncDeviceOperation");
    told_exchange(op.gather.dimension, op.gather.use, program.outputs[0], program.inputs[0]);
  }
  void operator()(const MatmulReduceScatterAttributes& op) const {
    (*this)(op.matmul);
    name("MatmulReduceScatterAsyncDeviceOperation");
    told_exchange(op.scatter.side(), op.scatter.use, program.outputs[0], program.outputs[1]);
  }
  void operator()(const SendAttributes&) const { name(SendAttributes::kName); }
  void operator()(const ReceiveAttributes&) const { name(ReceiveAttributes::kName); }
  void operator()(const MatmulAttributes& attributes) const {
    name(operation::kMatmul);
    told("transpose_a", fmt::to_string(attributes.transpose_a));
    told("transpose_b", fmt::to_string(attributes.transpose_b));
    told("user_core_coord", ttnn_text(attributes.core_grid));
    told_activation("user_fused_activation", attributes.activation);
    if (attributes.config) told("program_config", text_of(*attributes.config));
    const MatmulPlan& plan = *planned.matmul;
    told_compute({plan.fidelity, plan.fp32_accumulation, plan.packer_accumulates});
    told("planned", plan.text());
  }
  void operator()(const Conv2dAttributes& attributes) const {
    name(operation::kConv2d);
    Window::fields(attributes.window, [&](std::string_view field, const auto& value, Whole) {
      told(field, fmt::to_string(value));
    });
    told("memory_layout", std::string(name_of(attributes.sharding)));
    told("act_block_h_ntiles", fmt::to_string(attributes.act_block_h));
    told_activation("activation", attributes.activation);
    const ComputeConfig& compute = attributes.compute;
    told_compute({compute.fidelity.value_or(MathFidelity::hifi4), compute.fp32_accumulation,
                  compute.packer_accumulates.value_or(false)});
  }
  void operator()(const GroupNormAttributes& op) const {
    name(GroupNormAttributes::kTtnn);
    told("num_groups", fmt::to_string(op.groups));
    told("eps", fmt::format("{}", op.epsilon));
    if (op.core_grid) {
      told("program_config",
           fmt::format("GroupNormMultiCoreProgramConfig(compute_with_storage_grid_size={})",
                       ttnn_text(op.core_grid)));
    }
  }
  void operator()(const EltwiseAttributes& attributes) const {
    const EltwiseEntry& entry = entry_of(attributes.function);
    if (attributes.function == Eltwise::silu_backward) {
      name(operation::kSiluBackward);
    } else if (entry.values == 3) {
      name(operation::kTernary);
      told("ternary_op_type", fmt::format("TernaryOpType::{}", entry.ttnn));
    } else if (entry.values == 2) {
      name(operation::kBinary);
      told("binary_op_type", fmt::format("BinaryOpType::{}", entry.ttnn));
      told("scalar", attributes.scalar ? fmt::format("{}", *attributes.scalar) : "std::nullopt");
      const auto told_chain = [&](std::string_view role, const std::vector<EltwiseStep>& steps) {
        if (!steps.empty()) told(role, fmt::format("SmallVector([{}])", ttnn_chain(steps)));
      };
      told_chain("lhs_activations", attributes.on_a);
      told_chain("rhs_activations", attributes.on_b);
      told_chain("post_activations", attributes.then);
    } else {
      name(operation::kUnary);
      std::vector<EltwiseStep> chain{{attributes.function, attributes.numbers}};
      if (attributes.scalar) chain.front().numbers[0] = *attributes.scalar;
      chain.insert(chain.end(), attributes.then.begin(), attributes.then.end());
      told("op_chain", fmt::format("{{{}}}", ttnn_chain(chain)));
    }
    told("sub_core_grids",
         attributes.core_grid ? ttnn_range_text(*attributes.core_grid) : "std::nullopt");
  }
  void operator()(const ReduceAttributes& attributes) const {
    // ttnn's mean is a sum that is scaled on the way.
    const bool max = attributes.reduction == Reduction::max;
    const Shape& out = program.outputs[0].spec.shape;
    const bool sums_heads = out.outer() > 1 && out.heads() == 1;
    if (attributes.moreh) {
      name(attributes.reduction == Reduction::mean ? operation::kMorehMean : operation::kMorehSum);
      told("dim", attributes.dimension == Dimension::columns ? "3"
                  : attributes.dimension == Dimension::rows  ? "2"
                  : sums_heads                               ? "1"
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
  void operator()(const RepeatAttributes&) const {
    name(operation::kRepeat);
    told("m_num_repeats", fmt::to_string(program.outputs[0].spec.shape.heads() /
                                         program.inputs[0].spec.shape.heads()));
  }
  void operator()(const LayoutAttributes& attributes) const {
    name(attributes.to == Layout::row_major ? operation::kUntilize : operation::kTilize);
  }
  void operator()(const MemoryMoveAttributes&) const {
    name(move_operation(program.inputs[0].spec, program.outputs[0].spec));
  }
  void operator()(const MoveTilesAttributes&) const {
    name(operation::kConcat);
    told("dim", "3");
  }
  void operator()(const ConcatAttributes& attributes) const {
    name(operation::kConcat);
    told("dim", fmt::to_string(attributes.dimension));
  }
  void operator()(const SliceAttributes& attributes) const {
    name(operation::kSlice);
    told("slice_start", fmt::format("Shape([{}])", fmt::join(attributes.begins, "; ")));
    told("step", fmt::format("Shape([{}])", fmt::join(attributes.steps, "; ")));
  }
  void describe_rows(std::string_view operation, std::int64_t row) const {
    name(operation);
    told("slice_start", fmt::format("Shape([0; 0; {}; 0])", row));
    told("step", "Shape([1; 1; 1; 1])");
  }
  void operator()(const WriteRowsAttributes& attributes) const {
    describe_rows(operation::kSliceWrite, attributes.row);
  }
  void operator()(const UpdateCacheAttributes&) const { describe_rows(operation::kUpdateCache, 0); }
  void operator()(const PadAttributes& attributes) const {
    name(operation::kPad);
    told("input_tensor_start", fmt::format("Shape([{}])", fmt::join(attributes.before, "; ")));
    told("pad_value", fmt::format("{}", attributes.value));
  }
  void operator()(const PermuteAttributes& attributes) const {
    name(operation::kPermute);
    told("dims", fmt::format("SmallVector([{}])", fmt::join(attributes.order, "; ")));
  }
  /// Describes a kernel of TTML, whose arithmetic is always the same.
  template <class Kind>
  void describe_ttml_attention(std::string_view operation, const Kind& attributes) const {
    name(operation);
    facts.fidelity = name_of(MathFidelity::hifi4);
    told("is_causal", fmt::to_string(attributes.causal));
    told("scale", fmt::format("{}", attributes.scale));
  }
  void operator()(const AttentionAttributes& attributes) const {
    describe_attention(operation::kAttention, attributes);
  }
  void operator()(const DecodeAttentionAttributes& attributes) const {
    describe_attention(operation::kDecodeAttention,
                       {.scale = attributes.scale, .compute = attributes.compute});
  }
  void operator()(const TtmlAttentionAttributes& attributes) const {
    describe_ttml_attention(operation::kTtmlAttention, attributes);
  }
  void operator()(const AttentionBackwardQAttributes& attributes) const {
    describe_ttml_attention(operation::kAttentionBackwardQ, attributes);
  }
  void operator()(const AttentionBackwardKvAttributes& attributes) const {
    describe_ttml_attention(operation::kAttentionBackwardKv, attributes);
  }
  void describe_attention(std::string_view operation, const AttentionAttributes& attributes) const {
    name(operation);
    told("is_causal", fmt::to_string(attributes.causal));
    told("scale", fmt::format("{}", attributes.scale));
    told("program_config", fmt::format("SDPAProgramConfig(q_chunk_size={};k_chunk_size={})",
                                       attributes.query_chunk, attributes.key_chunk));
    told_compute(attributes.compute);
  }
  void operator()(const MinimalMatmulAttributes& attributes) const {
    name(operation::kMinimalMatmul);
    const CoreGrid grid = planned.kernel.grid;
    told("config",
         fmt::format("MinimalMatmulConfig(M_block_size={};K_block_size={};N_block_size={};"
                     "subblock_h={};subblock_w={};compute_with_storage_grid_size=(x={};y={}))",
                     attributes.block_m, attributes.block_k, attributes.block_n,
                     attributes.subblock_h, attributes.subblock_w, grid.columns, grid.rows));
    told_activation("fused_activation", attributes.activation);
    told_compute(attributes.compute);
  }
  void describe_split(int heads, int groups) const {
    name(operation::kSplitHeads);
    told("num_q_heads", fmt::to_string(heads));
    told("num_kv_heads", fmt::to_string(groups));
  }
  void operator()(const SplitHeadsAttributes& attributes) const {
    describe_split(attributes.heads, attributes.groups == 0 ? attributes.heads : attributes.groups);
  }
  void operator()(const SplitGroupsAttributes& attributes) const {
    describe_split(attributes.heads, attributes.groups);
  }
  void operator()(const SoftmaxAttributes&) const {
    name(operation::kSoftmax);
    told("dim", "3");
  }
  void operator()(const SoftmaxBackwardAttributes&) const {
    name(operation::kSoftmaxBackward);
    told("dim", "3");
  }
  void operator()(const LayernormAttributes& attributes) const {
    name(operation::kLayernorm);
    told("eps", fmt::format("{}", attributes.epsilon));
  }
  void operator()(const TtmlLayernormAttributes& attributes) const {
    name(operation::kTtmlLayernorm);
    told("eps", fmt::format("{}", attributes.epsilon));
  }
  void operator()(const RmsNormAttributes& attributes) const {
    name(operation::kLayernorm);
    told("norm_type", "LayerNormType::RMSNORM");
    told("eps", fmt::format("{}", attributes.epsilon));
  }
  void operator()(const TtmlRmsNormAttributes& attributes) const {
    name(operation::kTtmlRmsNorm);
    told("eps", fmt::format("{}", attributes.epsilon));
  }
  void operator()(const RotaryEmbeddingAttributes& attributes) const {
    name(attributes.style == RotaryStyle::pairs ? operation::kRotaryPairs
                                                : operation::kRotaryHalves);
  }
  void operator()(const GeluBackwardAttributes&) const { name(operation::kGeluBackward); }
  void operator()(const CrossEntropyAttributes& attributes) const {
    name(attributes.of_logarithms ? operation::kNllLoss : operation::kCrossEntropy);
  }
  void operator()(const CrossEntropyBackwardAttributes& attributes) const {
    name(attributes.of_logarithms ? operation::kNllLossBackward : operation::kCrossEntropyBackward);
  }
  void operator()(const DropoutAttributes& attributes) const {
    name(operation::kDropout);
    told("prob", fmt::format("{}", attributes.probability));
  }
  void operator()(const AdamWAttributes&) const { name(operation::kAdamW); }
  void operator()(const SgdAttributes& attributes) const {
    name(operation::kSgd);
    told("momentum", fmt::format("{}", attributes.momentum));
    told("weight_decay", fmt::format("{}", attributes.weight_decay));
    told("nesterov", fmt::to_string(attributes.nesterov));
  }
};

TensorFacts facts_of(const TensorSpec& spec) {
  return {.dimensions = spec.shape.dimensions(),
          .dtype = name_of(spec.dtype),
          .layout = spec.layout == Layout::tile ? "tile" : "row_major",
          .memory = spec.storage == Storage::dram ? "dram" : "l1"};
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
    const MathFidelity fidelity = std::visit(
        [&](const auto& op) {
          if (planned.matmul) return planned.matmul->fidelity;
          if constexpr (requires { op.compute; }) {
            return op.compute.fidelity.value_or(MathFidelity::hifi2);
          }
          return MathFidelity::hifi4;
        },
        program.attributes.variant());
    work.peak_flops = chip.peak_flops(planned.grid.cores(), fidelity);
  }
  return work;
}

}  // namespace

ProgramFacts facts_of(const PlannedProgram& planned, const ChipProfile& chip) {
  const Program& program = planned.program;
  ProgramFacts facts{.worker_cores = planned.grid.cores(), .work = work_of(planned, chip)};
  std::visit(Describer{program, planned, facts}, program.attributes.variant());
  facts.attributes.emplace_back("worker_grid", ttnn_range_text(planned.grid));
  for (const Operand& output : program.outputs) facts.outputs.push_back(facts_of(output.spec));
  for (const Operand& input : program.inputs) facts.inputs.push_back(facts_of(input.spec));
  return facts;
}

}  // namespace howard::chip
