// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engines/host/kernels/kernels.h"
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
          const float first = step.beta1 * load(m, i) + (1.0F - step.beta1) * gradient;
          const float second =
              step.beta2 * load(v, i) + (1.0F - step.beta2) * (gradient * gradient);
          const float root = std::sqrt(second * step.second_factor) + step.epsilon;
          store(m_out, i, first);
          store(v_out, i, second);
          store(p_out, i, parameter - step.rate * first / root);
        });
      });
    });
  };
}

}  // namespace

Kernel make_kernel(const AdamWAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  call.require_operands(4, 3);
  call.require_distinct_outputs();
  bool fits = attributes.step >= 1;
  for (std::size_t i = 0; i < 4; ++i) {
    fits = fits && is_real(call.in(i)) && call.in(i).shape == call.in(0).shape;
  }
  fits = fits && call.in(3).dtype == call.in(2).dtype && call.out(0).shape == call.in(0).shape &&
         call.out(0).dtype == call.in(0).dtype;
  for (std::size_t i = 1; i < 3; ++i) {
    fits = fits && call.out(i).shape == call.in(0).shape && call.out(i).dtype == call.in(2).dtype;
  }
  call.require(fits, "p, g and two moments of one type, all of one shape; a step from 1");
  const Step step(attributes);
  return with_type(call.in(0).dtype, [&](auto p) {
    return with_type(call.in(1).dtype, [&](auto g) {
      return with_type(call.in(2).dtype, [&](auto m) {
        return adamw_kernel<typename decltype(p)::type, typename decltype(g)::type,
                            typename decltype(m)::type>(step, call, context);
      });
    });
  });
}

}  // namespace howard::host
