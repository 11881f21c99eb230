// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement.h"

namespace howard::ops {

Program to_memory(const Tensor& a, const Tensor& out) {
  Program program = make_program(MemoryMoveAttributes{}, {a.operand()}, {out.operand()});
  program.name = "to_memory";
  return program;
}

Program write_rows(const Tensor& a, const Tensor& position, const Tensor& cache) {
  Program program =
      make_program(UpdateCacheAttributes{}, {a.operand(), cache.operand(), position.operand()},
                   {cache.operand()});
  program.name = WriteRowsAttributes::kName;
  return program;
}

Program concat(std::span<const Tensor> parts, int dimension, const Tensor& out) {
  return make_program(ConcatAttributes{.dimension = dimension}, operands_of(parts),
                      {out.operand()});
}

Program split_heads(const Tensor& qkv, int heads, const Tensor& q, const Tensor& k,
                    const Tensor& v) {
  return make_program(SplitHeadsAttributes{.heads = heads}, {qkv.operand()},
                      {q.operand(), k.operand(), v.operand()});
}

Program split_groups(const Tensor& q, const Tensor& kv, int heads, int groups, const Tensor& query,
                     const Tensor& k, const Tensor& v) {
  Program program =
      make_program(SplitGroupsAttributes{.heads = heads, .groups = groups},
                   {q.operand(), kv.operand()}, {query.operand(), k.operand(), v.operand()});
  program.name = SplitHeadsAttributes::kName;
  return program;
}

Program repeat_heads(const Tensor& a, const Tensor& out) {
  Program program = make_program(RepeatAttributes{}, {a.operand()}, {out.operand()});
  program.name = "repeat_heads";
  return program;
}

}  // namespace howard::ops
