// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engines/host/kernels/kernel.h"
#include "engines/host/products/matmul_kernel.h"

namespace howard::host {

/// One of several programs that run as one.
struct FusedMember {
  const Program& program;
  /// The values of its inputs, then of its outputs.
  std::vector<std::shared_ptr<std::byte[]>> buffers;
  bool kept = true;   ///< Its result is stored; else only the other members read it.
  bool wide = false;  ///< ... as float32, whatever it is rounded to.
  /// For each input, the place among the members of the one that makes it.
  std::vector<std::optional<std::size_t>> makers;
};

/// The kernel of a group that fuse() made: a product, an elementwise program, or several.
Kernel make_fused_kernel(std::span<const FusedMember> members, MatmulKernels& matmuls,
                         const KernelContext& context);

/// For events, of a group that begins with `first`: "fused_matmul" or "fused_eltwise".
std::string_view name_of_fused(const Program& first);

}  // namespace howard::host
