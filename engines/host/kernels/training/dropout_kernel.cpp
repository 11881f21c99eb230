// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engines/host/kernels/elementwise/float_math.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/training/random_halves.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// The probability of dropping in units of a half word: how many of the 2^16 values drop an
/// element, rounded to the nearest. Kept elements are scaled for this rounded probability, so that
/// the mean stays the same.
struct Threshold {
  explicit Threshold(float probability)
      : dropped(static_cast<std::int32_t>(std::lround(probability * 65536.0F))),
        factor(65536.0F / static_cast<float>(65536 - std::min(dropped, 65535))) {}

  std::int32_t dropped;
  float factor;
};

/// Returns a function that gives the seed, plus the value of the offset on the device, if there is
/// one, when the program runs.
auto seed_function(const DropoutAttributes& attributes, const Call& call) {
  const std::uint32_t* const offset =
      call.inputs() > 1 ? call.in_values<std::uint32_t>(1) : nullptr;
  return [seed = attributes.seed, offset] { return offset == nullptr ? seed : seed + *offset; };
}

template <class T>
Kernel dropout_kernel(const DropoutAttributes& attributes, const Call& call,
                      const KernelContext& context) {
  const std::int64_t count = call.out().shape.elements();
  return [=, &pool = context.pool, threshold = Threshold(attributes.probability),
          seed_of = seed_function(attributes, call), x = call.in_values<T>(0),
          out = call.out_values<T>()] {
    const std::uint32_t seed = seed_of();
    share(pool, ceil_div(count, kHalvesOfGroup), row_grain(kHalvesOfGroup),
          [=](std::int64_t begin, std::int64_t end, int) {
            vectorised([=]() HOWARD_INLINE {
              for (std::int64_t group = begin; group < end; ++group) {
                std::uint16_t halves[kHalves][kCounters];
                fill_halves(group, seed, halves);
                const std::uint16_t* own = halves[0];
                const T* from = x + group * kHalvesOfGroup;
                T* to = out + group * kHalvesOfGroup;
                for_each(std::min(kHalvesOfGroup, count - group * kHalvesOfGroup),
                         [=](std::int64_t i) HOWARD_INLINE {
                           const float kept = load(from, i) * threshold.factor;
                           store(to, i, choose(own[i] < threshold.dropped, 0.0F, kept));
                         });
              }
            });
          });
  };
}

}  // namespace

Kernel make_kernel(const DropoutAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) {
    return dropout_kernel<typename decltype(type)::type>(attributes, call, context);
  });
}

}  // namespace howard::host
