// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// Reads all values of an element before it writes any, because results are stored in place of
/// operands.
template <class P, class G, class B>
struct SgdStep {
  SgdAttributes attributes;
  const P* p;
  const G* g;
  const B* b;  ///< Null without a momentum.
  P* p_out;
  B* b_out;

  HOWARD_INLINE void run(std::int64_t i) const {
    const float parameter = load(p, i);
    float gradient = load(g, i) + attributes.weight_decay * parameter;
    if (b != nullptr) {
      const float buffer =
          attributes.momentum * load(b, i) + (1.0F - attributes.dampening) * gradient;
      store(b_out, i, buffer);
      gradient = attributes.nesterov ? gradient + attributes.momentum * buffer : buffer;
    }
    store(p_out, i, parameter - attributes.learning_rate * gradient);
  }
};

}  // namespace

Kernel make_kernel(const SgdAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  const bool keeps = attributes.momentum != 0;
  call.require(
      call.out(0).dtype == call.in(0).dtype && (!keeps || call.out(1).dtype == call.in(2).dtype),
      "results of the parameter's and the buffer's types");
  return with_type(call.in(0).dtype, [&](auto p) {
    return with_type(call.in(1).dtype, [&](auto g) {
      return with_type(call.in(keeps ? 2 : 0).dtype, [&](auto b) -> Kernel {
        using P = typename decltype(p)::type;
        using G = typename decltype(g)::type;
        using B = typename decltype(b)::type;
        const SgdStep<P, G, B> step{.attributes = attributes,
                                    .p = call.in_values<P>(0),
                                    .g = call.in_values<G>(1),
                                    .b = keeps ? call.in_values<B>(2) : nullptr,
                                    .p_out = call.out_values<P>(0),
                                    .b_out = keeps ? call.out_values<B>(1) : nullptr};
        return [=, &pool = context.pool, count = call.out().shape.elements()] {
          constexpr std::int64_t kGrain = 8192;
          share(pool, count, kGrain, [=](std::int64_t begin, std::int64_t end, int) {
            vectorised([=]() HOWARD_INLINE {
              for_each(end - begin, [=](std::int64_t i) HOWARD_INLINE { step.run(begin + i); });
            });
          });
        };
      });
    });
  });
}

}  // namespace howard::host
