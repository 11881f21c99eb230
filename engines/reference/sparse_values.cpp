// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/sparse_values.h"

#include "engines/reference/operand_index.h"

namespace howard::reference {

void sparse_product(const Program& program, const std::vector<const Values*>& inputs,
                    const SparseMatmulAttributes& attributes, std::vector<Values>& outputs) {
  const Index a = dimensions(program.inputs[0].spec.shape);
  const Index out = dimensions(program.outputs[0].spec.shape);
  for_each(out, [&](const Index& at) {
    if ((*inputs[2])[static_cast<std::size_t>(at[0] * out[1] + at[1])] == 0) return;
    const bool own = attributes.sparse_a;
    double sum = 0;
    for (std::int64_t k = 0; k < a[3]; ++k) {
      const Index left{own ? at[0] : at[0] / a[1], own ? at[1] : at[0] % a[1], at[2], k};
      sum += get(program.inputs[0], *inputs[0], left) *
             get(program.inputs[1], *inputs[1], {0, at[1], k, at[3]});
    }
    outputs[0][offset(out, at)] = sum;
  });
}

}  // namespace howard::reference
