// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/lowering.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "engines/chip/kernels/data_movement/data_movement.h"
#include "engines/chip/kernels/matmul/matmul_planner.h"
#include "engines/program/program.h"

namespace howard::chip {
namespace {

/// The numbers of temporaries have this bit, and those of buffers do not.
constexpr std::uint64_t kTemporary = std::uint64_t{1} << 62;

bool is_temporary(const Operand& operand) {
  return (static_cast<std::uint64_t>(operand.buffer) & kTemporary) != 0;
}

/// Collects launches.
class Launches {
 public:
  explicit Launches(int sub_device) : sub_device_(sub_device) {}

  Operand add(std::string_view name, Attributes attributes, std::vector<Operand> inputs,
              Operand out) {
    push({.name = name,
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .outputs = {out},
          .sub_device = sub_device_});
    return out;
  }

  Operand temporary(const TensorSpec& spec) { return {BufferId{next_temporary_++}, spec}; }

  Operand eltwise(Eltwise function, std::vector<Operand> inputs, const Operand& out) {
    return add(name_of(function), EltwiseAttributes{.function = function}, std::move(inputs), out);
  }
  /// Adds a function with a scalar, whose value does not matter here.
  Operand scaled(Eltwise function, const Operand& x, const Operand& out) {
    return add(name_of(function), EltwiseAttributes{.function = function, .scalar = 1.0F}, {x},
               out);
  }
  Operand transpose(const Operand& x, Swap swap) {
    const Shape shape =
        swap == Swap::rows_columns ? x.spec.shape.transposed() : x.spec.shape.heads_swapped();
    return add("transpose", TransposeAttributes{.swap = swap}, {x},
               temporary({shape, x.spec.dtype}));
  }
  Operand reduce(const ReduceAttributes& attributes, const Operand& x, const Shape& to) {
    return add(name_of(attributes.reduction), attributes, {x}, temporary({to, x.spec.dtype}));
  }
  Operand to_layout(const Operand& x, Layout layout) {
    const std::string_view name = layout == Layout::tile ? "tilize" : "untilize";
    return add(name, LayoutAttributes{.to = layout}, {x},
               temporary({x.spec.shape, x.spec.dtype, layout}));
  }

  void push(Program program, std::optional<MatmulPlan> matmul = {}) {
    launches_.push_back({std::move(program), std::move(matmul)});
  }
  /// Makes the last launch write to `out`.
  void end_in(const Operand& out) { launches_.back().program.outputs = {out}; }

  std::vector<LoweredLaunch> take() { return std::move(launches_); }

 private:
  int sub_device_;
  std::uint64_t next_temporary_ = kTemporary;
  std::vector<LoweredLaunch> launches_;
};

/// Transposes factors before the product, and applies an activation after it, where ttnn does so.
/// The multicasting kernels take an activation themselves if the caller gave a core grid or a
/// configuration.
void lower_matmul(Program program, MatmulAttributes attributes, CoreGrid grid,
                  const Profiles& profiles, Launches& launches) {
  std::optional<MatmulPlan> plan = plan_matmul(program, attributes, grid, profiles);
  const bool multicast = plan->is_multicast();
  const bool fused = profiles.software.matmul_fuses_transposes && multicast;
  if (!fused && (attributes.transpose_a || attributes.transpose_b)) {
    if (attributes.transpose_a) {
      program.inputs[0] = launches.transpose(program.inputs[0], Swap::rows_columns);
    }
    if (attributes.transpose_b) {
      program.inputs[1] = launches.transpose(program.inputs[1], Swap::rows_columns);
    }
    attributes.transpose_a = attributes.transpose_b = false;
    program.attributes = attributes;
    plan.reset();  // This is a product of other operands.
  }
  const bool told = attributes.core_grid || attributes.config;
  if (!attributes.activation || (told && multicast)) {
    return launches.push(std::move(program), plan);
  }
  if (plan) plan->problem.activation.reset();
  const EltwiseStep activation = *std::exchange(attributes.activation, std::nullopt);
  program.attributes = attributes;
  const Operand out = program.outputs[0];
  program.outputs[0] = launches.temporary(out.spec);
  const Operand product = program.outputs[0];
  launches.push(std::move(program), plan);
  launches.add(name_of(activation.function),
               EltwiseAttributes{.function = activation.function,
                                 .scalar = {},
                                 .core_grid = {},
                                 .numbers = activation.numbers},
               {product}, out);
}

/// Tilizes row-major operands first and untilizes the result, because ttnn computes in tiles.
void lower_eltwise(Program program, Launches& launches) {
  for (Operand& input : program.inputs) {
    if (input.spec.layout == Layout::row_major) input = launches.to_layout(input, Layout::tile);
  }
  const Operand out = program.outputs[0];
  if (out.spec.layout == Layout::tile) return launches.push(std::move(program));
  program.outputs[0] = launches.temporary({out.spec.shape, out.spec.dtype});
  const Operand result = program.outputs[0];
  launches.push(std::move(program));
  launches.to_layout(result, Layout::row_major);
  launches.end_in(out);
}

/// Follows ttnn's repeat (2025-12), which moves rows: a tensor in tiles is untilized first, and the
/// result is tilized.
void lower_repeat(const Program& program, Launches& launches) {
  if (program.inputs[0].spec.layout == Layout::row_major) return launches.push(program);
  const Operand rows = launches.to_layout(program.inputs[0], Layout::row_major);
  const Operand& out = program.outputs[0];
  const Operand repeated =
      launches.add(program.name, RepeatAttributes{}, {rows},
                   launches.temporary({out.spec.shape, out.spec.dtype, Layout::row_major}));
  launches.to_layout(repeated, Layout::tile);
  launches.end_in(out);
}

/// Reduces all dimensions. ttnn reduces the last two in place and brings the batch to the rows; the
/// moreh ops take one dimension after the other from the last.
void lower_reduce_all(const Program& program, ReduceAttributes attributes, Launches& launches) {
  const auto along = [&](Dimension dimension, const Operand& x, const Shape& to) {
    attributes.dimension = dimension;
    return launches.reduce(attributes, x, to);
  };
  Operand x = program.inputs[0];
  const Shape in = x.spec.shape;
  x = along(Dimension::columns, x, in.with_columns(1));
  x = along(Dimension::rows, x, {in.outer(), in.heads(), 1, 1});
  if (attributes.moreh) {
    x = along(Dimension::batch, x, {in.outer(), 1, 1, 1});
    along(Dimension::batch, x, {1});
  } else if (in.batch() > 1) {
    x.spec.shape = {1, in.batch(), 1, 1};
    x = launches.transpose(x, Swap::heads_rows);
    x = along(Dimension::rows, x, {1});
    x = launches.transpose(x, Swap::heads_rows);
    if (attributes.reduction == Reduction::mean) {
      launches.scaled(Eltwise::multiply, x, launches.temporary(x.spec));
    }
  }
  launches.end_in(program.outputs[0]);
}

/// Follows ttnn's gelu_bw for the exact gelu: dy (cdf(x) + x pdf(x)).
void lower_gelu_backward(const Program& program, Launches& launches) {
  const Operand& x = program.inputs[0];
  const Operand& dy = program.inputs[1];
  const Operand t = launches.temporary(x.spec);
  launches.scaled(Eltwise::multiply, x, t);
  launches.eltwise(Eltwise::erf, {t}, t);
  launches.scaled(Eltwise::add, t, t);
  launches.scaled(Eltwise::multiply, t, t);
  launches.eltwise(Eltwise::multiply, {x, x}, t);
  launches.scaled(Eltwise::multiply, t, t);
  launches.eltwise(Eltwise::exp, {t}, t);
  launches.scaled(Eltwise::multiply, t, t);
  launches.eltwise(Eltwise::multiply, {t, x}, t);
  launches.eltwise(Eltwise::add, {t, t}, t);
  launches.eltwise(Eltwise::multiply, {t, dy}, program.outputs[0]);
}

/// Brings a tensor into rows and back into tiles: ttnn moves parts in this way if they do not begin
/// and end with tiles.
void lower_to_rows(Program program, Launches& launches) {
  const Operand out = program.outputs[0];
  program.inputs[0] = launches.to_layout(program.inputs[0], Layout::row_major);
  program.outputs[0] = launches.temporary({out.spec.shape, out.spec.dtype, Layout::row_major});
  const Operand rows = program.outputs[0];
  launches.push(std::move(program));
  launches.to_layout(rows, Layout::tile);
  launches.end_in(out);
}

bool moves_rows_of_tiles(const Program& program) {
  if (program.outputs[0].spec.layout != Layout::tile) return false;
  if (const auto* const slice = std::get_if<SliceAttributes>(&program.attributes)) {
    return !slices_whole_tiles(program, *slice);
  }
  const auto* const pad = std::get_if<PadAttributes>(&program.attributes);
  return pad != nullptr && (pad->before[2] % kTileSide != 0 || pad->before[3] % kTileSide != 0);
}

/// Replaces the numbers of an op that its time does not depend on.
template <class Kind>
void forget_values(Kind& op) {
  if constexpr (requires { op.epsilon; }) op.epsilon = Kind{}.epsilon;
  if constexpr (requires { op.scale; }) op.scale = 1;
  if constexpr (requires { op.value; }) op.value = 0;
  if constexpr (requires { op.probability; }) op = {};
  if constexpr (requires { op.activation; }) {
    if (op.activation) op.activation->numbers = {};
  }
}
void forget_values(EltwiseAttributes& op) {
  if (op.scalar) op.scalar = 1.0F;
  op.numbers = {};
  for (auto* const steps : {&op.then, &op.on_a, &op.on_b}) {
    for (EltwiseStep& step : *steps) step.numbers = {};
  }
}
void forget_values(AdamWAttributes& op) {
  const bool rounds = op.rounding_seed.has_value();
  op = {.amsgrad = op.amsgrad, .kahan = op.kahan};
  if (rounds) op.rounding_seed = 0;
}
/// The kernel has a step for each number that is not 0.
void forget_values(SgdAttributes& op) {
  const auto is_set = [](float number) { return number != 0 ? 1.0F : 0.0F; };
  op = {.momentum = is_set(op.momentum),
        .weight_decay = is_set(op.weight_decay),
        .nesterov = op.nesterov};
}

}  // namespace

std::vector<LoweredLaunch> lower(const Program& program, CoreGrid grid, const Profiles& profiles) {
  Launches launches(program.sub_device);
  if (const auto* const matmul = std::get_if<MatmulAttributes>(&program.attributes)) {
    lower_matmul(program, *matmul, grid, profiles, launches);
  } else if (std::holds_alternative<EltwiseAttributes>(program.attributes)) {
    lower_eltwise(program, launches);
  } else if (std::holds_alternative<RepeatAttributes>(program.attributes)) {
    lower_repeat(program, launches);
  } else if (const auto* const reduce = std::get_if<ReduceAttributes>(&program.attributes);
             reduce != nullptr && reduce->dimension == Dimension::all) {
    lower_reduce_all(program, *reduce, launches);
  } else if (const auto* const gelu = std::get_if<GeluBackwardAttributes>(&program.attributes);
             gelu != nullptr && !gelu->fused) {
    lower_gelu_backward(program, launches);
  } else if (moves_rows_of_tiles(program)) {
    lower_to_rows(program, launches);
  } else {
    launches.push(program);
  }
  return launches.take();
}

Bytes temporary_bytes(std::span<const LoweredLaunch> launches) {
  struct Life {
    std::size_t first = 0, last = 0;
    Bytes size;
  };
  std::map<BufferId, Life> lives;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Program& program = launches[i].program;
    for (const auto* const operands : {&program.inputs, &program.outputs}) {
      for (const Operand& operand : *operands) {
        if (!is_temporary(operand) || operand.spec.storage != Storage::dram) continue;
        const auto [life, is_new] = lives.try_emplace(operand.buffer, Life{.first = i});
        life->second.last = i;
        life->second.size = operand.spec.padded_bytes();
      }
    }
  }
  Bytes most;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    Bytes alive;
    for (const auto& [buffer, life] : lives) {
      if (life.first <= i && i <= life.last) alive += life.size;
    }
    most = std::max(most, alive);
  }
  return most;
}

Attributes without_values(Attributes attributes) {
  std::visit([](auto& op) { forget_values(op); }, attributes.variant());
  return attributes;
}

Program timing_key(const Program& program) {
  Program key = program;
  key.sub_device = 0;
  for (Operand& input : key.inputs) input.buffer = BufferId();
  for (Operand& output : key.outputs) output.buffer = BufferId();
  key.attributes = without_values(std::move(key.attributes));
  return key;
}

}  // namespace howard::chip
