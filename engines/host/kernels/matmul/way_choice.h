// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "engines/host/kernels/matmul/product_way.h"

namespace howard::host {

/// Chooses the way that is fastest, or `fixed`, which is one of `ways`, if that is about as fast: a
/// way must be 3 % faster than the fixed one to replace it, and 7 % if it has larger blocks.
/// `seconds(i)` computes once in way i and returns the time.
///
/// The ways are run in turn, three times or up to six, and the least time of each counts. If
/// another process takes a core away meanwhile, times differ from run to run: the two least times
/// of each way must agree to 3 %, otherwise the result is nothing. A way that is 15 % slower than
/// the best one in two runs is not run again.
std::optional<ProductWay> choose_way(std::span<const ProductWay> ways, const ProductWay& fixed,
                                     const std::function<double(std::size_t)>& seconds);

}  // namespace howard::host
