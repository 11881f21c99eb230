// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "experiments/language_models/decode_step.h"

namespace howard::experiments {

void DecodeStep::experts_of_replicas(const LayerFormats& formats) {
  norm("norm", residual_cores_);
  mixture(formats);
  reduce(residual_cores_);
  add_residual();
}

void DecodeStep::experts(const LayerFormats& formats) {
  gather(kUserRows);
  norm("norm", residual_cores_);
  if (model_.shared_width > 0) {
    const std::int64_t wide = serving_.column_share(model_.shared_width);
    gated_products(wide, formats, common_divisor(model_.hidden, wide),
                   common_divisor(wide, model_.hidden));
    if (model_.norms_results) norm("norm", residual_cores_);
  }
  mixture(formats);
  if (model_.norms_results) norm("norm", residual_cores_);
  if (model_.shared_width > 0) {
    const TensorSpec x = stream(model_.hidden, residual_cores_);
    add("add", EltwiseAttributes{.function = Eltwise::add}, {x, x}, {x});
  }
  reduce(residual_cores_);
  norm_result();
  add_residual();
}

void DecodeStep::mixture(const LayerFormats& formats) {
  if (serving_.has_whole_experts()) return whole_experts(formats);
  if (serving_.expert_sharers() > 1) return sent_experts(formats);
  sparse_experts(kUserRows, serving_.chosen_of(model_.experts, serving_.batch), formats);
}

void DecodeStep::whole_experts(const LayerFormats& formats) {
  constexpr std::int64_t kCores = 8;
  route(kUserRows);
  const TensorSpec x = stream(model_.hidden, kCores);
  for (std::int64_t i = 0; i < serving_.my_experts(); ++i) {
    gated_products(serving_.expert_columns(), formats, kCores, kCores);
    add("experts", EltwiseAttributes{.function = Eltwise::multiply}, {x, interleaved(kUserRows, 1)},
        {x});
    if (i > 0) add("experts", EltwiseAttributes{.function = Eltwise::add}, {x, x}, {x});
  }
}

void DecodeStep::sent_experts(const LayerFormats& formats) {
  const std::int64_t groups = serving_.expert_sharers(), hidden = model_.hidden;
  const std::int64_t tokens = groups * kUserRows;
  route(kUserRows);
  const auto in_rows = [](Shape shape) {
    return TensorSpec{.shape = std::move(shape), .layout = Layout::row_major};
  };
  const auto whole = [&](Shape shape) {
    TensorSpec spec = in_rows(std::move(shape));
    spec.dtype = DataType::uint16;
    return spec;
  };
  const TensorSpec mapping = whole({model_.experts, groups});
  const TensorSpec all_chosen = whole({tokens, model_.experts_used});
  constexpr LinkUse kLinks{.links = 4};
  add("exchange", LayoutAttributes{.to = Layout::row_major}, {interleaved(kUserRows, hidden)},
      {in_rows({kUserRows, hidden})});
  add("exchange", AllToAllDispatchAttributes{.use = kLinks},
      {in_rows({kUserRows, hidden}), group_handle(), whole({kUserRows, model_.experts_used}),
       mapping},
      {in_rows({tokens, hidden}), all_chosen});
  const std::int64_t used = serving_.chosen_of(serving_.my_experts(), tokens);
  const std::int64_t each = ceil_div(tokens * model_.experts_used, model_.experts);
  const std::int64_t rows = kTileSide * ceil_div(each, kTileSide);
  const std::int64_t wide = used * serving_.expert_columns();
  const auto read = [&](std::string_view part, std::int64_t k, std::int64_t n,
                        const WeightFormat& format) {
    add(part, MatmulAttributes{.compute = format.compute},
        {interleaved(rows, k, DataType::bfloat16, Storage::l1), interleaved(k, n, format.dtype)},
        {interleaved(rows, n, DataType::bfloat16, Storage::dram)});
  };
  read("w1", hidden, wide, formats.gate_up);
  read("w3", hidden, wide, formats.gate_up);
  activate(interleaved(rows, wide), interleaved(rows, wide, DataType::bfloat8_b));
  read("w2", wide, hidden, formats.down);
  const Shape back{1, model_.experts_used, kUserRows, hidden};
  add("exchange", AllToAllCombineAttributes{.use = kLinks},
      {in_rows({1, serving_.my_experts(), tokens, hidden}), group_handle(), all_chosen, mapping},
      {in_rows(back)});
  const TensorSpec x{.shape = back};
  add("exchange", LayoutAttributes{.to = Layout::tile}, {in_rows(back)}, {x});
  add("experts", EltwiseAttributes{.function = Eltwise::multiply},
      {x, TensorSpec{.shape = {1, model_.experts_used, kUserRows, 1}}}, {x});
  add("experts", ReduceAttributes{.dimension = Dimension::batch},
      {TensorSpec{.shape = {1, model_.experts_used, kUserRows, hidden}}},
      {TensorSpec{.shape = {1, 1, kUserRows, hidden}}});
}

}  // namespace howard::experiments
