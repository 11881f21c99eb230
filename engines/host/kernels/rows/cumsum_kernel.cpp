// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// The sums along one dimension. A lane has the dimensions behind it together.
template <class T>
struct Sums {
  const T* x;
  T* out;
  std::int64_t length, width;  ///< Places of a lane, and elements at each place.
  bool flip;

  using Number = decltype(load(std::declval<const T*>(), 0));

  void run_lane(std::int64_t lane, Number* sums) const {
    std::fill_n(sums, width, Number{});
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
  const std::array<std::int64_t, 4>& sizes = x.dimensions();
  const auto dim = static_cast<std::size_t>(attributes.dim);
  const std::int64_t length = sizes.at(dim);
  const std::int64_t width = std::accumulate(sizes.begin() + attributes.dim + 1, sizes.end(),
                                             std::int64_t{1}, std::multiplies<>());
  return with_number(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    using Number = typename Sums<T>::Number;
    const Sums<T> sums{.x = call.in_values<T>(0),
                       .out = call.out_values<T>(),
                       .length = length,
                       .width = width,
                       .flip = attributes.flip};
    return [=, &pool = context.pool, &workspace = context.workspace,
            lanes = x.elements() / (length * width)] {
      workspace.require(Bytes(sums.width * std::int64_t{sizeof(Number)}));
      share(pool, lanes, row_grain(sums.length * sums.width),
            [&](std::int64_t begin, std::int64_t end, int worker) {
              for (std::int64_t lane = begin; lane < end; ++lane) {
                sums.run_lane(lane, reinterpret_cast<Number*>(workspace.floats(worker)));
              }
            });
    };
  });
}

}  // namespace howard::host
