// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/planner.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/error.h"
#include "engines/chip/kernels/attention/attention.h"
#include "engines/chip/kernels/collective/collective.h"
#include "engines/chip/kernels/collective/fused.h"
#include "engines/chip/kernels/convolution/convolution.h"
#include "engines/chip/kernels/data_movement/data_movement.h"
#include "engines/chip/kernels/elementwise/elementwise.h"
#include "engines/chip/kernels/facts.h"
#include "engines/chip/kernels/matmul/matmul_cost.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/chip/kernels/matmul/minimal_matmul.h"
#include "engines/chip/kernels/matmul/swiglu.h"
#include "engines/chip/kernels/rows/rows.h"
#include "engines/chip/kernels/training/training.h"
#include "engines/chip/memory/dram_sharing.h"
#include "engines/program/program.h"

namespace howard::chip {
namespace {

/// There is one overload for each kind of program, so that a new kind does not compile until it is
/// planned.
struct Planner {
  const Program& program;
  CoreGrid grid;
  const Profiles& profiles;
  const std::optional<MatmulPlan>& matmul;

  PlannedProgram operator()(const MatmulAttributes& attributes) const {
    const MatmulPlan plan =
        matmul ? *matmul : plan_matmul(program, attributes, grid, profiles.chip);
    return {.name = program.name,
            .footprint = matmul_footprint(plan, profiles.software),
            .kernel = matmul_cost(plan, profiles).kernel,
            .matmul = plan};
  }
  PlannedProgram operator()(const EltwiseAttributes& attributes) const {
    return touches_l1(program) ? plan_eltwise_in_l1(program, attributes, grid, profiles)
                               : plan_eltwise(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const ReduceAttributes& attributes) const {
    HOWARD_CHECK(attributes.dimension != Dimension::all, "lowered to one dimension at a time");
    return plan_reduce(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const TransposeAttributes& attributes) const {
    return attributes.swap == Swap::rows_columns ? plan_transpose(program, grid, profiles)
                                                 : plan_transpose_heads(program, grid, profiles);
  }
  PlannedProgram operator()(const ReshapeAttributes&) const {
    return plan_reshape(program, grid, profiles);
  }
  PlannedProgram operator()(const RepeatAttributes&) const {
    return plan_repeat(program, grid, profiles);
  }
  PlannedProgram operator()(const LayoutAttributes&) const {
    return plan_layout(program, grid, profiles);
  }
  PlannedProgram operator()(const MemoryMoveAttributes&) const {
    return plan_memory_move(program, grid, profiles);
  }
  PlannedProgram operator()(const MoveTilesAttributes&) const {
    return plan_move_tiles(program, program.outputs[0].spec.shape.tiles(), grid, profiles);
  }
  PlannedProgram operator()(const ConcatAttributes&) const {
    return plan_move_tiles(program, program.outputs[0].spec.shape.tiles(), grid, profiles);
  }
  PlannedProgram operator()(const SplitHeadsAttributes& attributes) const {
    return plan_split_heads(program, attributes.transpose_k, grid, profiles);
  }
  PlannedProgram operator()(const SplitGroupsAttributes&) const {
    return plan_move_tiles(program, tile_rows(program.inputs[0]), grid, profiles);
  }
  PlannedProgram operator()(const ConcatHeadsAttributes&) const {
    return plan_concat_heads(program, grid, profiles);
  }
  PlannedProgram operator()(const SplitHeadsDecodeAttributes&) const {
    return plan_split_heads_decode(program, grid, profiles);
  }
  PlannedProgram operator()(const ConcatHeadsDecodeAttributes&) const {
    return plan_concat_heads_decode(program, grid, profiles);
  }
  PlannedProgram operator()(const PagedUpdateCacheAttributes&) const {
    return plan_paged_update_cache(program, grid, profiles);
  }
  PlannedProgram operator()(const PagedFillCacheAttributes&) const {
    Program move = program;
    move.outputs = {program.inputs[0]};
    return plan_move_tiles(move, tile_rows(program.inputs[0]), grid, profiles);
  }
  PlannedProgram operator()(const CumsumAttributes& attributes) const {
    return plan_cumsum(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const SoftmaxAttributes& attributes) const {
    return plan_softmax(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const SoftmaxBackwardAttributes&) const {
    return plan_softmax_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const LayernormAttributes& attributes) const {
    return plan_layernorm(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const TtmlLayernormAttributes&) const {
    return plan_ttml_layernorm(program, grid, profiles);
  }
  PlannedProgram operator()(const LayernormBackwardAttributes&) const {
    return plan_layernorm_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const GeluBackwardAttributes& attributes) const {
    HOWARD_CHECK(attributes.fused, "lowered to elementwise ops");
    return plan_gelu_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const EmbeddingAttributes&) const {
    return plan_embedding(program, grid, profiles);
  }
  PlannedProgram operator()(const EmbeddingBackwardAttributes&) const {
    return plan_embedding_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const CrossEntropyAttributes& attributes) const {
    return attributes.of_logarithms ? plan_nll_loss(program, grid, profiles)
                                    : plan_cross_entropy(program, grid, profiles);
  }
  PlannedProgram operator()(const CrossEntropyBackwardAttributes& attributes) const {
    return attributes.of_logarithms ? plan_nll_loss_backward(program, grid, profiles)
                                    : plan_cross_entropy_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const DropoutAttributes&) const {
    return plan_dropout(program, grid, profiles);
  }
  PlannedProgram operator()(const AdamWAttributes& attributes) const {
    return plan_adamw(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const SgdAttributes& attributes) const {
    return plan_sgd(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const SwigluAttributes&) const {
    return plan_swiglu(program, grid, profiles);
  }

  PlannedProgram operator()(const RmsNormAttributes& attributes) const {
    return plan_rms_norm(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const TtmlRmsNormAttributes&) const {
    return plan_ttml_rms_norm(program, grid, profiles);
  }
  PlannedProgram operator()(const RmsNormBackwardAttributes&) const {
    return plan_rms_norm_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const SliceAttributes&) const {
    return plan_slice(program, grid, profiles);
  }
  PlannedProgram operator()(const WriteRowsAttributes& attributes) const {
    return plan_write_rows(program, attributes.row, grid, profiles);
  }
  PlannedProgram operator()(const UpdateCacheAttributes&) const {
    return plan_write_rows(program, std::nullopt, grid, profiles);
  }
  PlannedProgram operator()(const PadAttributes&) const {
    return plan_pad(program, grid, profiles);
  }
  PlannedProgram operator()(const PermuteAttributes& attributes) const {
    return plan_permute(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const AttentionAttributes& attributes) const {
    return plan_attention(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const DecodeAttentionAttributes& attributes) const {
    return plan_decode_attention(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const TtmlAttentionAttributes& attributes) const {
    return plan_ttml_attention(program, attributes.causal, grid, profiles);
  }
  PlannedProgram operator()(const AttentionBackwardQAttributes& attributes) const {
    return plan_attention_backward_q(program, attributes.causal, grid, profiles);
  }
  PlannedProgram operator()(const AttentionBackwardKvAttributes& attributes) const {
    return plan_attention_backward_kv(program, attributes.causal, grid, profiles);
  }
  PlannedProgram operator()(const MinimalMatmulAttributes& attributes) const {
    return plan_minimal_matmul(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const RotaryEmbeddingAttributes& attributes) const {
    return plan_rotary_embedding(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const AllGatherAttributes& attributes) const {
    return plan_all_gather(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const ReduceScatterAttributes& attributes) const {
    return plan_reduce_scatter(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const AllGatherMatmulAttributes& attributes) const {
    return plan_all_gather_matmul(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const MatmulReduceScatterAttributes& attributes) const {
    return plan_matmul_reduce_scatter(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const Conv2dAttributes& attributes) const {
    return plan_conv2d(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const HaloAttributes& attributes) const {
    return plan_halo(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const Pool2dAttributes& attributes) const {
    return plan_pool2d(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const UpsampleAttributes& attributes) const {
    return plan_upsample(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const FoldAttributes& attributes) const {
    return plan_fold(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const GroupNormAttributes& attributes) const {
    return plan_group_norm(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const BatchNormAttributes&) const {
    return plan_batch_norm(program, grid, profiles);
  }
  PlannedProgram operator()(const SendAttributes&) const { return plan_transfer(); }
  PlannedProgram operator()(const ReceiveAttributes&) const { return plan_transfer(); }

  /// The sockets of a mesh run transfers themselves (engines/mesh/sockets.h).
  [[noreturn]] PlannedProgram plan_transfer() const {
    throw Error({.attempted = fmt::format("plan {}", program.name),
                 .value = "a transfer on one chip",
                 .accepted = "transfers between the chips of a mesh"});
  }

  static std::int64_t tile_rows(const Operand& operand) {
    return operand.spec.shape.batch() * operand.spec.shape.tile_rows();
  }
};

}  // namespace

PlannedProgram plan_program(const Program& program, CoreGrid grid, const Profiles& profiles,
                            const std::optional<MatmulPlan>& matmul) {
  PlannedProgram planned = std::visit(Planner{program, grid, profiles, matmul}, program.attributes);
  planned.facts = facts_of(program, planned, grid, profiles.chip);
  return planned;
}

Launch launch_of(const PlannedProgram& planned, DispatchCoreType type, const Profiles& profiles) {
  return {.dispatch = dispatch_time(planned.footprint, type, profiles.software),
          .go = go_time(planned.footprint, profiles.software, type),
          .kernel = planned.kernel.total,
          .configuration = configuration_bytes(planned.footprint),
          .dram_share = share_of(transfer_time(planned.kernel.dram, profiles.chip.dram_bandwidth),
                                 planned.kernel.total),
          .planned = &planned};
}

void leave_out_binaries(Launch& launch, DispatchCoreType type, const SoftwareProfile& software) {
  const Footprint rest = without_binaries(launch.planned->footprint);
  launch.dispatch = dispatch_time(rest, type, software);
  launch.configuration = configuration_bytes(rest);
}

}  // namespace howard::chip
