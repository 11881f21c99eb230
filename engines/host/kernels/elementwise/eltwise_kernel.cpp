// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/host/kernels/elementwise/broadcast.h"
#include "engines/host/kernels/elementwise/eltwise_blocks.h"
#include "engines/host/kernels/elementwise/eltwise_functions.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

/// About this many elements are worth another thread.
constexpr std::int64_t kElementGrain = 16384;

/// Computes out = function(x), where x and out have `count` elements.
template <class X, class Out, class Function>
Kernel map_kernel(const X* x, Out* out, std::int64_t count, const KernelContext& context,
                  const Function& function) {
  return [=, &pool = context.pool] {
    share(pool, count, kElementGrain, [&](std::int64_t begin, std::int64_t end, int) {
      const X* from = x + begin;
      Out* to = out + begin;
      const Function apply = function;
      vectorised([=]() HOWARD_INLINE {
        for_each(end - begin,
                 [=](std::int64_t i) HOWARD_INLINE { store(to, i, apply(load(from, i))); });
      });
    });
  };
}

/// Computes one row of out = function(a, b). An operand with a step of 0 is a single number.
template <class A, class B, class Out, class Function>
HOWARD_INLINE inline void combine_row(const A* a, std::int64_t a_step, const B* b,
                                      std::int64_t b_step, Out* out, std::int64_t count,
                                      const Function& function) {
  if (a_step != 0 && b_step != 0) {
    for_each(count, [=](std::int64_t i)
                        HOWARD_INLINE { store(out, i, function(load(a, i), load(b, i))); });
  } else if (a_step != 0) {
    const float y = load(b, 0);
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { store(out, i, function(load(a, i), y)); });
  } else {
    const float x = load(a, 0);
    for_each(count, [=](std::int64_t i)
                        HOWARD_INLINE { store(out, i, function(x, load(b, i * b_step))); });
  }
}

/// Computes out = function(a, b) with broadcasting.
template <class A, class B, class Out, class Function>
Kernel combine_kernel(const Call& call, const KernelContext& context, const Function& function) {
  const Broadcast walk = broadcast_of(call.out().shape, call.in(0).shape, call.in(1).shape);
  // Long rows are cut into pieces, so that several threads can share them.
  const std::int64_t piece = std::min(walk.row.size, kElementGrain);
  const std::int64_t pieces = ceil_div(walk.row.size, piece);
  return [=, &pool = context.pool, a = call.in_values<A>(0), b = call.in_values<B>(1),
          out = call.out_values<Out>()] {
    const std::int64_t grain = std::max(std::int64_t{1}, kElementGrain / piece);
    share(pool, walk.rows() * pieces, grain, [&](std::int64_t begin, std::int64_t end, int) {
      vectorised([&]() HOWARD_INLINE {
        for (std::int64_t unit = begin; unit < end; ++unit) {
          const std::int64_t row = unit / pieces;
          const std::int64_t column = unit % pieces * piece;
          const auto [a_row, b_row] = walk.offsets(row);
          combine_row(a + a_row + column * walk.row.a, walk.row.a, b + b_row + column * walk.row.b,
                      walk.row.b, out + row * walk.row.size + column,
                      std::min(piece, walk.row.size - column), function);
        }
      });
    });
  };
}

template <class Function>
Kernel unary(const Call& call, const KernelContext& context, const Function& function) {
  call.require_one_type();
  return with_type(call.out().dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return map_kernel(call.in_values<T>(0), call.out_values<T>(), call.out().shape.elements(),
                      context, function);
  });
}

Kernel cast(const Call& call, const KernelContext& context) {
  return with_type(call.in(0).dtype, [&](auto from) {
    return with_type(call.out().dtype, [&](auto to) {
      return map_kernel(call.in_values<typename decltype(from)::type>(0),
                        call.out_values<typename decltype(to)::type>(), call.out().shape.elements(),
                        context, Identity());
    });
  });
}

Kernel fill(float value, const Call& call, const KernelContext& context) {
  const std::int64_t count = call.out().shape.elements();
  return with_type(call.out().dtype, [&](auto type) -> Kernel {
    using T = typename decltype(type)::type;
    return [=, &pool = context.pool, out = call.out_values<T>()] {
      share(pool, count, kElementGrain, [&](std::int64_t begin, std::int64_t end, int) {
        T one{};
        store(&one, 0, value);
        std::fill(out + begin, out + end, one);
      });
    };
  });
}

/// Makes the kernel for two tensors, or for a tensor and a scalar.
template <class Function>
Kernel binary(const EltwiseAttributes& attributes, const Call& call, const KernelContext& context) {
  if (attributes.scalar) {
    return unary(call, context,
                 [y = *attributes.scalar](float x) HOWARD_INLINE { return Function()(x, y); });
  }
  const TensorSpec& a = call.in(0);
  const TensorSpec& b = call.in(1);
  const bool wide = a.dtype == DataType::float32 || b.dtype == DataType::float32;
  call.require(call.out().dtype == (wide ? DataType::float32 : DataType::bfloat16),
               "bfloat16 and float32, with float32 to float32");
  if (!wide) return combine_kernel<Half, Half, Half>(call, context, Function());
  if (a.dtype == b.dtype) return combine_kernel<float, float, float>(call, context, Function());
  if (a.dtype == DataType::float32) {
    return combine_kernel<float, Half, float>(call, context, Function());
  }
  return combine_kernel<Half, float, float>(call, context, Function());
}

template <class Function>
Kernel unary_of_shape(const Call& call, const KernelContext& context) {
  return unary(call, context, Function());
}

}  // namespace

Kernel make_kernel(const EltwiseAttributes& attributes, const Call& call,
                   const KernelContext& context) {
  // A program with functions before or behind it, of whole numbers, or without a loop of its own,
  // goes the generic way.
  if (!attributes.is_plain() || !call.is_real())
    return make_block_kernel(attributes, call, context);
  switch (attributes.function) {
    case Eltwise::add:
      return binary<Add>(attributes, call, context);
    case Eltwise::subtract:
      return binary<Subtract>(attributes, call, context);
    case Eltwise::multiply:
      return binary<Multiply>(attributes, call, context);
    case Eltwise::silu_backward:
      return binary<SiluBackward>(attributes, call, context);
    case Eltwise::fill:
      return fill(attributes.scalar.value_or(0.0F), call, context);
    case Eltwise::relu:
      return unary_of_shape<Relu>(call, context);
    case Eltwise::gtz:
      return unary_of_shape<Gtz>(call, context);
    case Eltwise::square:
      return unary_of_shape<Square>(call, context);
    case Eltwise::exp:
      return unary_of_shape<Exp>(call, context);
    case Eltwise::erf:
      return unary_of_shape<Erf>(call, context);
    case Eltwise::gelu:
      return unary_of_shape<Gelu>(call, context);
    case Eltwise::sqrt:
      return unary_of_shape<Sqrt>(call, context);
    case Eltwise::rsqrt:
      return unary_of_shape<Rsqrt>(call, context);
    case Eltwise::reciprocal:
      return unary_of_shape<Reciprocal>(call, context);
    case Eltwise::sigmoid:
      return unary_of_shape<Sigmoid>(call, context);
    case Eltwise::silu:
      return unary_of_shape<Silu>(call, context);
    case Eltwise::cast:
      return cast(call, context);
    default:
      return make_block_kernel(attributes, call, context);
  }
}

Kernel make_kernel(const GeluBackwardAttributes&, const Call& call, const KernelContext& context) {
  return with_type(call.out().dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    return combine_kernel<T, T, T>(call, context, GeluBackward());
  });
}

}  // namespace howard::host
