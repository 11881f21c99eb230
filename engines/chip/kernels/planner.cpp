// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/planner.h"

#include "base/check.h"
#include "engines/chip/kernels/attention/attention.h"
#include "engines/chip/kernels/collective/collective.h"
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
#include "engines/device/attention_programs.h"
#include "engines/device/cache_programs.h"

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
    const MatmulPlan plan = matmul ? *matmul
                                   : plan_matmul(problem_of(program, attributes), grid,
                                                 profiles.chip.l1_circular_buffers);
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
    const bool repeats =
        program.outputs[0].spec.shape.elements() > program.inputs[0].spec.shape.elements();
    return repeats ? plan_repeat(program, grid, profiles) : plan_reshape(program, grid, profiles);
  }
  PlannedProgram operator()(const LayoutAttributes&) const {
    const bool moves = program.inputs[0].spec.layout == program.outputs[0].spec.layout;
    return moves ? plan_memory_move(program, grid, profiles) : plan_layout(program, grid, profiles);
  }
  PlannedProgram operator()(const ConcatAttributes&) const {
    return plan_move_tiles(program, program.outputs[0].spec.shape.tiles(), grid, profiles);
  }
  // ttnn shares the rows of tiles of [n, 1, s, heads d] among the cores.
  PlannedProgram operator()(const SplitHeadsAttributes&) const {
    return plan_move_tiles(program, tile_rows(program.inputs[0]), grid, profiles);
  }
  PlannedProgram operator()(const ConcatHeadsAttributes&) const {
    return plan_move_tiles(program, tile_rows(program.outputs[0]), grid, profiles);
  }
  PlannedProgram operator()(const SoftmaxAttributes&) const {
    return plan_softmax(program, grid, profiles);
  }
  PlannedProgram operator()(const SoftmaxBackwardAttributes&) const {
    return plan_softmax_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const LayernormAttributes&) const {
    return plan_layernorm(program, grid, profiles);
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

  PlannedProgram operator()(const RmsNormAttributes&) const {
    return plan_rms_norm(program, grid, profiles);
  }
  PlannedProgram operator()(const RmsNormBackwardAttributes&) const {
    return plan_rms_norm_backward(program, grid, profiles);
  }
  PlannedProgram operator()(const SliceAttributes&) const {
    return writes_rows(program) ? plan_write_rows(program, grid, profiles)
                                : plan_slice(program, grid, profiles);
  }
  PlannedProgram operator()(const PadAttributes&) const {
    return plan_pad(program, grid, profiles);
  }
  PlannedProgram operator()(const PermuteAttributes& attributes) const {
    return plan_permute(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const AttentionAttributes& attributes) const {
    if (is_ttml_attention(program)) {
      return plan_ttml_attention(program, attributes, grid, profiles);
    }
    if (is_attention_backward(program)) {
      return plan_ttml_attention_backward(program, attributes, grid, profiles);
    }
    return has_position(program) ? plan_decode_attention(program, attributes, grid, profiles)
                                 : plan_attention(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const MinimalMatmulAttributes& attributes) const {
    return plan_minimal_matmul(program, attributes, grid, profiles);
  }
  PlannedProgram operator()(const RotaryEmbeddingAttributes& attributes) const {
    return plan_rotary_embedding(program, attributes, grid, profiles);
  }

  static std::int64_t tile_rows(const Operand& operand) {
    return operand.spec.shape.batch() * operand.spec.shape.tile_rows();
  }
};

}  // namespace

PlannedProgram plan_program(const Program& program, CoreGrid grid, const Profiles& profiles,
                            const std::optional<MatmulPlan>& matmul) {
  const auto collective = collective_of(program);
  PlannedProgram planned =
      collective ? plan_collective(program, *collective, grid, profiles)
                 : std::visit(Planner{program, grid, profiles, matmul}, program.attributes);
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

}  // namespace howard::chip
