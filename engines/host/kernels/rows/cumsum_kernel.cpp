// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// The sums along one dimension. A lane is a row, or the columns of a matrix together.
template <class T>
struct Sums {
  const T* x;
  T* out;
  std::int64_t length, width;  ///< Places of a lane, and elements at each place.
  bool flip;

  void run_lane(std::int64_t lane, float* sums) const {
    std::fill_n(sums, width, 0.0F);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t place = flip ? length - 1 - i : i;
      const std::int64_t first = (lane * length + place) * width;
      for (std::int64_t j = 0; j < width; ++j) {
        sums[j] += load(x, first + j);
        store(out, first + j, sums[j]);
      }
    }
  }
};

}  // namespace

Kernel make_kernel(const CumsumAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const Shape& x = call.in(0).shape;
  const bool along_rows = attributes.dim == 2;
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    const Sums<T> sums{.x = call.in_values<T>(0),
                       .out = call.out_values<T>(),
                       .length = along_rows ? x.rows() : x.columns(),
                       .width = along_rows ? x.columns() : 1,
                       .flip = attributes.flip};
    return [=, &pool = context.pool, &workspace = context.workspace,
            lanes = along_rows ? x.batch() : rows_of(x)] {
      workspace.require(Bytes(sums.width * 4));
      share(pool, lanes, row_grain(sums.length * sums.width),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              for (std::int64_t lane = begin; lane < end; ++lane) {
                sums.run_lane(lane, workspace.floats(worker));
              }
            });
    };
  });
}

}  // namespace howard::host
