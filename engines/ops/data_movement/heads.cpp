// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement/heads.h"

#include <utility>

#include "base/check.h"
#include "engines/ops/check.h"

namespace howard::ops {

TensorSpec split_heads_output(const TensorSpec& qkv, int heads) {
  const Shape& shape = qkv.shape;
  const std::int64_t parts = 3 * std::int64_t{heads};
  if (heads < 1 || shape.heads() != 1 || shape.columns() % parts != 0 || !is_real(qkv)) {
    refuse("split_heads", {qkv}, "[n, 1, s, 3 heads d]");
  }
  return {{shape.outer(), heads, shape.rows(), shape.columns() / parts}, qkv.dtype};
}

Program split_heads(const Tensor& qkv, int heads, const Tensor& q, const Tensor& k,
                    const Tensor& v) {
  const TensorSpec expected = split_heads_output(qkv.spec(), heads);
  for (const Tensor* out : {&q, &k, &v}) require_output("split_heads", *out, expected);
  return {.name = "split_heads",
          .attributes = SplitHeadsAttributes{.heads = heads},
          .inputs = {qkv.operand()},
          .outputs = {q.operand(), k.operand(), v.operand()}};
}

TensorSpec split_groups_output(const TensorSpec& q, const TensorSpec& kv, int heads, int groups) {
  const Shape& shape = kv.shape;
  const bool whole = heads >= 1 && groups >= 1 && q.shape.heads() == 1 && shape.heads() == 1 &&
                     q.shape.columns() % heads == 0 && shape.columns() % (2 * groups) == 0;
  const bool fits = whole && q.shape.columns() / heads == shape.columns() / (2 * groups) &&
                    q.shape == shape.with_columns(q.shape.columns()) && q.dtype == kv.dtype &&
                    is_real(q);
  if (!fits) refuse("split_heads", {q, kv}, "[n, 1, s, heads d] and [n, 1, s, 2 groups d]");
  return {{shape.outer(), groups, shape.rows(), shape.columns() / (2 * groups)}, kv.dtype};
}

Program split_groups(const Tensor& q, const Tensor& kv, int heads, int groups, const Tensor& query,
                     const Tensor& k, const Tensor& v) {
  const TensorSpec part = split_groups_output(q.spec(), kv.spec(), heads, groups);
  const Shape& shape = part.shape;
  require_output("split_heads", query,
                 {{shape.outer(), heads, shape.rows(), shape.columns()}, part.dtype});
  for (const Tensor* out : {&k, &v}) require_output("split_heads", *out, part);
  return {.name = "split_heads",
          .attributes = SplitHeadsAttributes{.heads = heads},
          .inputs = {q.operand(), kv.operand()},
          .outputs = {query.operand(), k.operand(), v.operand()}};
}

TensorSpec repeat_heads_output(const TensorSpec& a, int count) {
  if (count < 1) refuse("repeat_heads", {a}, "a count of 1 or more");
  const Shape& shape = a.shape;
  return {{shape.outer(), shape.heads() * count, shape.rows(), shape.columns()}, a.dtype, a.layout};
}

Program repeat_heads(const Tensor& a, int count, const Tensor& out) {
  require_output("repeat_heads", out, repeat_heads_output(a.spec(), count));
  return {.name = "repeat_heads",
          .attributes = ReshapeAttributes{},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

TensorSpec concat_heads_output(const TensorSpec& a) {
  const Shape& shape = a.shape;
  return {{shape.outer(), 1, shape.rows(), shape.heads() * shape.columns()}, a.dtype};
}

Program concat_heads(const Tensor& a, const Tensor& out) {
  require_output("concat_heads", out, concat_heads_output(a.spec()));
  return {.name = "concat_heads",
          .attributes = ConcatHeadsAttributes{},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

Program concat(std::span<const Tensor> parts, const Tensor& out) {
  HOWARD_CHECK(!parts.empty(), "something to put side by side");
  std::int64_t columns = 0;
  std::vector<Operand> inputs;
  for (const Tensor& part : parts) {
    const TensorSpec& spec = part.spec();
    if (spec != TensorSpec{out.spec().shape.with_columns(spec.shape.columns()), out.spec().dtype}) {
      refuse("concat", {spec, out.spec()}, "parts that differ from the result in columns only");
    }
    columns += spec.shape.columns();
    inputs.push_back(part.operand());
  }
  require_output("concat", out, {out.spec().shape.with_columns(columns), out.spec().dtype});
  return {.name = "concat",
          .attributes = ConcatAttributes{},
          .inputs = std::move(inputs),
          .outputs = {out.operand()}};
}

}  // namespace howard::ops
