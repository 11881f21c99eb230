// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"
#include "engines/program/program.h"

namespace howard::chip {

/// The L1 that the circular buffers of a kernel take on each core.
struct KernelBuffers {
  Bytes size;
  bool exact = false;  ///< It follows the kernel's own rule; otherwise it is an estimate.
  Bytes least;         ///< What it needs in any case; all of it if it is exact.

  static KernelBuffers of(Bytes size) { return {size, true, size}; }
};

/// Returns the circular buffers of a kernel that is no matrix product, as ttnn's program factories
/// of November 2025 make them, where `l1` is what a core has for them. Shards in L1 are buffers by
/// themselves and take nothing. Where no rule is known, it is an estimate: each of `count` buffers
/// has two tiles of 32 bit numbers.
KernelBuffers kernel_buffers(const Program& program, CoreGrid grid, Bytes l1, int count);

/// A norm along rows: rms_norm or layer_norm with what it is called with.
struct NormKernel {
  DataType in = DataType::bfloat16, out = DataType::bfloat16;
  DataType weights = DataType::bfloat16;
  std::int64_t columns = 1;  ///< Tiles in a row.
  bool gamma = false, beta = false;
  bool residual = false;  ///< Another tensor is added first.
  bool centered = false;  ///< The mean is subtracted: layer_norm.
  bool fp32_accumulation = false;
};
KernelBuffers norm_buffers(const NormKernel& norm, Bytes l1);

/// The buffers of embedding_backward, of indices of so many bytes.
KernelBuffers embedding_backward_buffers(const TensorSpec& dy, const TensorSpec& table, Bytes index,
                                         CoreGrid grid);

/// Returns the tiles that ttnn's kernels take at a time of a row of so many: its largest divisor up
/// to `most`, of those that they have loops for.
std::int64_t tiles_at_a_time(std::int64_t columns, std::int64_t most);

}  // namespace howard::chip
