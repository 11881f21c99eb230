// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engines/host/kernels.h"
#include "engines/host/philox.h"
#include "engines/host/vector_loops.h"

namespace howard::host {
namespace {

/// Elements are dropped group by group; element lane * kCounters + i of a group is decided by word
/// `lane` of its counter i, so that neighbours come from neighbouring counters, as vectors want it.
constexpr std::int64_t kCounters = 64;
constexpr std::int64_t kWords = 4;
constexpr std::int64_t kGroup = kCounters * kWords;

HOWARD_INLINE inline void fill_words(std::int64_t group, std::uint32_t seed,
                                     std::uint32_t (&words)[kGroup]) {
  for_each(kCounters, [&](std::int64_t i) HOWARD_INLINE {
    const auto random = philox(static_cast<std::uint64_t>(group * kCounters + i), seed);
    words[i] = random[0];
    words[i + kCounters] = random[1];
    words[i + 2 * kCounters] = random[2];
    words[i + 3 * kCounters] = random[3];
  });
}

template <class T>
Kernel dropout_kernel(const DropoutAttributes& attributes, const Call& call,
                      const KernelContext& context) {
  const std::int64_t count = call.out().shape.elements();
  const float factor = 1.0F / (1.0F - attributes.probability);
  const auto threshold =
      static_cast<std::uint32_t>(std::ldexp(static_cast<double>(attributes.probability), 32));
  return [=, &pool = context.pool, seed = attributes.seed, x = call.in_values<T>(0),
          out = call.out_values<T>()] {
    share(pool, ceil_div(count, kGroup), row_grain(kGroup),
          [=](std::int64_t begin, std::int64_t end, int) {
            vectorised([=]() HOWARD_INLINE {
              for (std::int64_t group = begin; group < end; ++group) {
                std::uint32_t words[kGroup];
                fill_words(group, seed, words);
                const T* from = x + group * kGroup;
                T* to = out + group * kGroup;
                for_each(std::min(kGroup, count - group * kGroup),
                         [=, &words](std::int64_t i) HOWARD_INLINE {
                           const float kept = load(from, i) * factor;
                           store(to, i, words[i] < threshold ? 0.0F : kept);
                         });
              }
            });
          });
  };
}

}  // namespace

Kernel make_kernel(const DropoutAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  call.require_operands(1, 1);
  call.require_one_real_type();
  call.require(call.in(0).shape == call.out().shape, "a result of the operand's shape");
  call.require(attributes.probability >= 0.0F && attributes.probability < 1.0F,
               "a probability of 0 up to, and without, 1");
  return with_type(call.out().dtype, [&](auto type) {
    return dropout_kernel<typename decltype(type)::type>(attributes, call, context);
  });
}

}  // namespace howard::host
