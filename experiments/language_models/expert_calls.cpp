// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_calls.h"

namespace howard::experiments {

void ModelCalls::route(std::int64_t rows) {
  const TensorSpec logits = interleaved(rows, model_.experts);
  const TensorSpec chosen = interleaved(rows, model_.experts_used);
  TensorSpec places = chosen;
  places.dtype = DataType::uint16;
  add("router", MatmulAttributes{},
      {interleaved(rows, model_.hidden), interleaved(model_.hidden, model_.experts)}, {logits});
  if (model_.expert_groups > 0) {  // DeepSeek's sigmoid, and the best groups of experts first
    add("router", EltwiseAttributes{.function = Eltwise::sigmoid}, {logits}, {logits});
    const TensorSpec groups = interleaved(rows, model_.expert_groups);
    TensorSpec which = groups;
    which.dtype = DataType::uint16;
    add("router", TopkAttributes{.k = model_.expert_groups}, {logits}, {groups, which});
    add("router", EltwiseAttributes{.function = Eltwise::multiply}, {logits, logits}, {logits});
  }
  if (model_.is_gpt_oss() || model_.expert_groups > 0) {
    add("router", EltwiseAttributes{.function = Eltwise::add},
        {logits, interleaved(1, model_.experts)}, {logits});
  }
  add("router", TopkAttributes{.k = model_.experts_used}, {logits}, {chosen, places});
  add("router", SoftmaxAttributes{}, {chosen}, {chosen});
}

/// The weights of the chosen experts stand among zeros for the others: ttnn's scatter, whose
/// operands are rows.
void ModelCalls::spread_weights(std::int64_t rows) {
  const auto in_rows = [](TensorSpec spec) {
    spec.layout = Layout::row_major;
    return spec;
  };
  const TensorSpec all = in_rows(interleaved(rows, model_.experts));
  const TensorSpec chosen = interleaved(rows, model_.experts_used);
  const TensorSpec places = interleaved(rows, model_.experts_used, DataType::uint16);
  for (const TensorSpec& x : {chosen, places}) {
    add("router", LayoutAttributes{.to = Layout::row_major}, {x}, {in_rows(x)});
  }
  add("router", ScatterAttributes{}, {all, in_rows(places), in_rows(chosen)}, {all});
}

/// Makes the operand of w2 of the results of w1 and w3, for all experts, whether chosen or not.
void ModelCalls::activate_of_all(std::int64_t blocks, std::int64_t wide) {
  const TensorSpec x{.shape = {blocks, serving_.my_experts(), kTileSide, wide}};
  if (!model_.is_gpt_oss()) return activate(x, x);
  const TensorSpec bias{.shape = {1, serving_.my_experts(), 1, wide}};
  const auto eltwise = [&](const EltwiseAttributes& attributes, const SpecList& inputs) {
    add("experts", attributes, inputs, {x});
  };
  for (int i = 0; i < 2; ++i) eltwise({.function = Eltwise::add}, {x, bias});
  // (min(gate, 7) sigmoid(1.702 gate)) (clamp(up, -7, 7) + 1), each step an op.
  eltwise({.function = Eltwise::clamp}, {x});
  eltwise({.function = Eltwise::clamp}, {x});
  eltwise({.function = Eltwise::multiply, .scalar = 1.702F}, {x});
  eltwise({.function = Eltwise::sigmoid}, {x});
  eltwise({.function = Eltwise::multiply}, {x, x});
  eltwise({.function = Eltwise::add, .scalar = 1.0F}, {x});
  eltwise({.function = Eltwise::multiply}, {x, x});
}

void ModelCalls::sparse_experts(std::int64_t rows, std::int64_t used, const LayerFormats& formats) {
  const std::int64_t blocks = ceil_div(rows, kTileSide), experts = serving_.my_experts();
  const std::int64_t wide = serving_.expert_columns(), hidden = model_.hidden;
  const auto product = [&](std::string_view part, std::int64_t k, std::int64_t n,
                           const WeightFormat& format, CoreGrid cores, std::int64_t step) {
    const bool of_all = part != "w2";  // The rows of the tokens themselves.
    const std::int64_t columns = ceil_div(ceil_div(n, kTileSide), cores.cores());
    while (ceil_div(k, kTileSide) % step != 0) --step;
    add(part,
        SparseMatmulAttributes{.used = blocks * used,
                               .sparse_a = !of_all,
                               .sparse_b = of_all,
                               .compute = format.compute,
                               .config = MatmulConfig{.kind = MatmulKind::multicast_1d_in0,
                                                      .grid = cores,
                                                      .per_core_m = 1,
                                                      .per_core_n = columns,
                                                      .in0_block_w = step,
                                                      .out_block_h = 1,
                                                      .out_block_w = columns,
                                                      .fuse_batch = false}},
        {TensorSpec{.shape = {blocks, of_all ? 1 : experts, kTileSide, k}},
         TensorSpec{.shape = {1, experts, k, n}, .dtype = format.dtype},
         TensorSpec{.shape = {1, 1, blocks, experts}, .layout = Layout::row_major}},
        {TensorSpec{.shape = {blocks, experts, kTileSide, n}}});
  };
  route(rows);
  spread_weights(rows);
  // The demo's grids and blocks of K: 3x4 cores and 30 tiles, 5x6 and 12.
  product("w1", hidden, wide, formats.gate_up, {3, 4}, 30);
  product("w3", hidden, wide, formats.gate_up, {3, 4}, 30);
  activate_of_all(blocks, wide);
  product("w2", wide, hidden, formats.down, {5, 6}, 12);
  const TensorSpec x{.shape = {blocks, experts, kTileSide, hidden}};
  if (model_.is_gpt_oss()) {
    const TensorSpec bias{.shape = {1, experts, 1, hidden}};
    add("experts", EltwiseAttributes{.function = Eltwise::add}, {x, bias}, {x});
  }
  const TensorSpec weights{.shape = {blocks, experts, kTileSide, 1}};
  add("experts", EltwiseAttributes{.function = Eltwise::multiply}, {x, weights}, {x});
  add("experts", ReduceAttributes{.dimension = Dimension::batch}, {x},
      {TensorSpec{.shape = {blocks, 1, kTileSide, hidden}}});
}

}  // namespace howard::experiments
