// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engines/host/kernels/kernel.h"
#include "engines/host/kernels/matmul/matmul_kernel.h"

namespace howard::host {

/// One of several programs that run as one.
struct FusedMember {
  const Program& program;
  /// The buffers of its inputs, followed by those of its outputs.
  std::vector<std::shared_ptr<std::byte[]>> buffers;
  bool kept = true;   ///< True if its result is stored; otherwise only other members read it.
  bool wide = false;  ///< True if it is stored as float32, whatever it is rounded to.
  /// The index of the member that makes it, for each input that a member makes.
  std::vector<std::optional<std::size_t>> makers;
};

/// Makes the kernel of a group that fuse() made: a product, an elementwise program, or several.
Kernel make_fused_kernel(std::span<const FusedMember> members, MatmulKernels& matmuls,
                         const KernelContext& context);

/// Returns the name for events of a group that begins with `first`: "fused_matmul" or
/// "fused_eltwise".
std::string_view name_of_fused(const Program& first);

}  // namespace howard::host
