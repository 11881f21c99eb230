// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "engines/host/kernels/elementwise/float_math.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/training/random_halves.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// AdamWAttributes, with everything computed that is the same for all elements.
struct Step {
  explicit Step(const AdamWAttributes& attributes)
      : decay(attributes.weight_decay * attributes.learning_rate),
        beta1(attributes.beta1),
        beta2(attributes.beta2),
        epsilon(attributes.epsilon) {
    const auto unbiased = [&](float beta) {
      return 1 - std::pow(static_cast<double>(beta), static_cast<double>(attributes.step));
    };
    rate = static_cast<float>(static_cast<double>(attributes.learning_rate) / unbiased(beta1));
    second_factor = static_cast<float>(1 / unbiased(beta2));
  }

  float decay;
  float beta1;
  float beta2;
  float epsilon;
  float rate;           ///< learning rate / (1 - beta1^step)
  float second_factor;  ///< 1 / (1 - beta2^step)
};

/// The first and the second moment of an element after the step.
struct NewMoments {
  float first, second;
};

template <class M>
HOWARD_INLINE inline NewMoments moments_of(const Step& step, const M* m, const M* v, std::int64_t i,
                                           float gradient) {
  return {.first = step.beta1 * load(m, i) + (1.0F - step.beta1) * gradient,
          .second = step.beta2 * load(v, i) + (1.0F - step.beta2) * (gradient * gradient)};
}

/// Uses the order of TTML's composite: the parameter decays before the step is subtracted. All
/// values of an element are read before any is written, because results are stored in place of
/// operands.
template <class P, class G, class M>
Kernel adamw_kernel(const Step& step, const Call& call, const KernelContext& context) {
  constexpr std::int64_t kGrain = 8192;
  return [=, &pool = context.pool, count = call.out().shape.elements(), p = call.in_values<P>(0),
          g = call.in_values<G>(1), m = call.in_values<M>(2), v = call.in_values<M>(3),
          p_out = call.out_values<P>(0), m_out = call.out_values<M>(1),
          v_out = call.out_values<M>(2)] {
    share(pool, count, kGrain, [=](std::int64_t begin, std::int64_t end, int) {
      vectorised([=]() HOWARD_INLINE {
        for_each(end - begin, [=](std::int64_t offset) HOWARD_INLINE {
          const std::int64_t i = begin + offset;
          const float gradient = load(g, i);
          const float parameter = load(p, i) - step.decay * load(p, i);
          const auto [first, second] = moments_of(step, m, v, i, gradient);
          const float root = std::sqrt(second * step.second_factor) + step.epsilon;
          store(m_out, i, first);
          store(v_out, i, second);
          store(p_out, i, parameter - step.rate * first / root);
        });
      });
    });
  };
}

/// Rounds `value` up or down by chance: the lower half of a float32 is what is lost, and it is the
/// probability, in units of 2^-16, that adding the noise carries into the upper half.
HOWARD_INLINE inline Half rounded_by_chance(float value, std::uint16_t noise) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_finite = (bits & 0x7F80'0000) != 0x7F80'0000;
  return is_finite ? static_cast<Half>((bits + noise) >> 16) : to_bfloat16(value);
}
HOWARD_INLINE inline float rounded_by_chance_of(const float*, float value, std::uint16_t) {
  return value;
}
HOWARD_INLINE inline float rounded_by_chance_of(const Half*, float value, std::uint16_t noise) {
  return from_bfloat16(rounded_by_chance(value, noise));
}
HOWARD_INLINE inline float rounded_as(const float*, float value) { return value; }
HOWARD_INLINE inline float rounded_as(const Half*, float value) {
  return rounded_to_bfloat16(value);
}

/// The tensors of a step with the options of AdamWAttributes; null where there is none.
template <class P, class G, class M>
struct OptionTensors {
  const P* p;
  const G* g;
  const M *m, *v, *largest;
  const P* lost;
  P* p_out;
  M *m_out, *v_out, *largest_out;
  P* lost_out;

  /// Updates the elements [begin, begin + count); `halves` are null or random.
  HOWARD_INLINE void update(const Step& step, std::int64_t begin, std::int64_t count,
                            const std::uint16_t* halves) const {
    float hat[kHalvesOfGroup], change[kHalvesOfGroup], decayed[kHalvesOfGroup],
        result[kHalvesOfGroup];
    for_each(count, [&](std::int64_t j) HOWARD_INLINE {
      const std::int64_t i = begin + j;
      const auto [first, second] = moments_of(step, m, v, i, load(g, i));
      hat[j] = second * step.second_factor;
      change[j] = -step.rate * first;
      decayed[j] = load(p, i) - step.decay * load(p, i);
      store(m_out, i, first);
      store(v_out, i, second);
    });
    if (largest != nullptr) {
      for_each(count, [&](std::int64_t j) HOWARD_INLINE {
        hat[j] = Max()(hat[j], load(largest, begin + j));
        store(largest_out, begin + j, hat[j]);
      });
    }
    for_each(count,
             [&](std::int64_t j) HOWARD_INLINE { change[j] /= std::sqrt(hat[j]) + step.epsilon; });
    if (lost != nullptr) {
      for_each(count, [&](std::int64_t j) HOWARD_INLINE { change[j] -= load(lost, begin + j); });
    }
    for_each(count, [&](std::int64_t j) HOWARD_INLINE {
      const float sum = decayed[j] + change[j];
      result[j] = halves != nullptr ? rounded_by_chance_of(p, sum, halves[j]) : rounded_as(p, sum);
    });
    if (lost != nullptr) {
      for_each(count, [&](std::int64_t j) HOWARD_INLINE {
        store(lost_out, begin + j, (result[j] - decayed[j]) - change[j]);
      });
    }
    for_each(count, [&](std::int64_t j) HOWARD_INLINE { store(p_out, begin + j, result[j]); });
  }
};

template <class P, class G, class M>
Kernel adamw_with_options(const AdamWAttributes& attributes, const Call& call,
                          const KernelContext& context) {
  const std::size_t compensation = attributes.amsgrad ? 5 : 4;
  const OptionTensors<P, G, M> tensors{
      .p = call.in_values<P>(0),
      .g = call.in_values<G>(1),
      .m = call.in_values<M>(2),
      .v = call.in_values<M>(3),
      .largest = attributes.amsgrad ? call.in_values<M>(4) : nullptr,
      .lost = attributes.kahan ? call.in_values<P>(compensation) : nullptr,
      .p_out = call.out_values<P>(0),
      .m_out = call.out_values<M>(1),
      .v_out = call.out_values<M>(2),
      .largest_out = attributes.amsgrad ? call.out_values<M>(3) : nullptr,
      .lost_out = attributes.kahan ? call.out_values<P>(compensation - 1) : nullptr};
  return [=, &pool = context.pool, count = call.out().shape.elements(), step = Step(attributes),
          seed = attributes.rounding_seed] {
    share(pool, ceil_div(count, kHalvesOfGroup), row_grain(kHalvesOfGroup),
          [=](std::int64_t begin, std::int64_t end, int) {
            vectorised([=]() HOWARD_INLINE {
              for (std::int64_t group = begin; group < end; ++group) {
                std::uint16_t halves[kHalves][kCounters];
                if (seed) fill_halves(group, *seed, halves);
                const std::int64_t first = group * kHalvesOfGroup;
                tensors.update(step, first, std::min(kHalvesOfGroup, count - first),
                               seed ? halves[0] : nullptr);
              }
            });
          });
  };
}

/// Throws Error unless each result has the type of what it updates, and all moments have one type.
void require_adamw_types(const AdamWAttributes& attributes, const Call& call) {
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    // The compensation, which comes last, has the type of p; all others are moments.
    const bool is_lost = attributes.kahan && i + 1 == call.inputs();
    const std::size_t like = i == 1 || is_lost ? 0 : 2;
    const bool fits = call.out(i - 1).dtype == call.in(like).dtype &&
                      (i == 1 || call.in(i).dtype == call.in(like).dtype);
    call.require(fits, "results of the parameter's and the moments' types");
  }
}

}  // namespace

Kernel make_kernel(const AdamWAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  require_adamw_types(attributes, call);
  const bool plain = !attributes.amsgrad && !attributes.kahan && !attributes.rounding_seed;
  const Step step(attributes);
  return with_type(call.in(0).dtype, [&](auto p) {
    return with_type(call.in(1).dtype, [&](auto g) {
      return with_type(call.in(2).dtype, [&](auto m) {
        using P = typename decltype(p)::type;
        using G = typename decltype(g)::type;
        using M = typename decltype(m)::type;
        return plain ? adamw_kernel<P, G, M>(step, call, context)
                     : adamw_with_options<P, G, M>(attributes, call, context);
      });
    });
  });
}

}  // namespace howard::host
