// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/matmul/minimal_matmul.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engines/ops/check.h"
#include "engines/ops/matmul/matmul.h"

namespace howard::ops {
namespace {

void require_blocks(const MinimalMatmulAttributes& blocks) {
  const auto is_size = [](std::int64_t tiles) { return tiles > 0 && tiles <= 1 << 20; };
  const bool sizes = is_size(blocks.block_m) && is_size(blocks.block_k) &&
                     is_size(blocks.block_n) && is_size(blocks.subblock_h) &&
                     is_size(blocks.subblock_w);
  if (sizes && blocks.block_m % blocks.subblock_h == 0 && blocks.block_n % blocks.subblock_w == 0) {
    return;
  }
  throw Error(
      {.attempted = "multiply by minimal_matmul",
       .value = fmt::format("blocks of {}x{}x{} tiles and sub-blocks of {}x{}", blocks.block_m,
                            blocks.block_k, blocks.block_n, blocks.subblock_h, blocks.subblock_w),
       .accepted = "sizes from 1 to 1048576, the blocks of m and n multiples of the sub-block's"});
}

}  // namespace

Program minimal_matmul(const Tensor& a, const Tensor& b, const MinimalMatmulAttributes& attributes,
                       const Tensor& out) {
  if (b.spec().shape.batch() != 1) {
    refuse("minimal_matmul", {a.spec(), b.spec()}, "a weight [k, n] without a batch");
  }
  require_blocks(attributes);
  Program program = matmul(a, b, out, {.activation = attributes.activation});
  program.name = "minimal_matmul";
  program.attributes = attributes;
  return program;
}

Program minimal_matmul(const Tensor& a, const Tensor& b, const Tensor& bias,
                       const MinimalMatmulAttributes& attributes, const Tensor& out) {
  Program program = minimal_matmul(a, b, attributes, out);
  const Shape row{out.spec().shape.columns()};
  if (bias.spec().shape != row || !is_real(bias.spec())) {
    refuse("minimal_matmul", {a.spec(), b.spec(), bias.spec()},
           "a bias of one row, as wide as the result");
  }
  program.inputs.push_back(bias.operand());
  return program;
}

}  // namespace howard::ops
