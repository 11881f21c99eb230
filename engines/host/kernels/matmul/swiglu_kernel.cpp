// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/swiglu_kernel.h"

#include <array>

#include "base/error.h"
#include "engines/host/kernels/elementwise/float_math.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/kernels/rows/row_norms.h"

namespace howard::host {
namespace {

template <class T>
struct SwigluSlopes {
  const T* gate;
  const T* up;
  const T* dy;
  T* dgate;
  T* dup;
  std::int64_t columns;

  HOWARD_INLINE void run_row(std::int64_t row) const {
    const std::int64_t first = row * columns;
    for_each(columns, [=, g = gate + first, u = up + first, d = dy + first, to_gate = dgate + first,
                       to_up = dup + first](std::int64_t i) HOWARD_INLINE {
      const float value = load(g, i);
      const float other = load(u, i);
      const float incoming = load(d, i);
      store(to_gate, i, incoming * other * silu_slope_of(value));
      store(to_up, i, incoming * silu_of(value));
    });
  }
};

}  // namespace

Kernel make_kernel(const SwigluBackwardAttributes&, const Call& call,
                   const KernelContext& context) {
  const TensorSpec& gate = call.in(0);
  return with_type(gate.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const SwigluSlopes<T> rows{.gate = call.in_values<T>(0),
                               .up = call.in_values<T>(1),
                               .dy = call.in_values<T>(2),
                               .dgate = call.out_values<T>(0),
                               .dup = call.out_values<T>(1),
                               .columns = gate.shape.columns()};
    return rows_kernel(rows, rows_of(gate.shape), context);
  });
}

std::shared_ptr<SwigluKernels::Between> SwigluKernels::between(const TensorSpec& spec) {
  std::weak_ptr<Between>& known = made_[spec.host_bytes()];
  if (auto shared = known.lock()) return shared;
  auto made = std::make_shared<Between>(
      Between{LargePages(spec.host_bytes()), LargePages(spec.host_bytes())});
  if (made->gate.get() == nullptr || made->up.get() == nullptr) {
    throw Error({.attempted = "run swiglu on the host",
                 .value = "the system has no memory left for two of " + spec.text(),
                 .hint = "smaller shapes"});
  }
  known = made;
  return made;
}

Kernel SwigluKernels::make_kernel(const Program& program, std::span<std::byte* const> inputs,
                                  std::span<std::byte* const> outputs) {
  const Operand& x = program.inputs[0];
  const Operand& gate = program.inputs[1];
  const Operand wide(TensorSpec{x.spec.shape.with_columns(gate.spec.shape.rows()), x.spec.dtype});
  const std::shared_ptr<Between> kept = between(wide.spec);
  const std::array factors{kept->gate.get(), kept->up.get()};
  std::byte* const hidden = kept->gate.get();
  const auto product = [&](const Operand& a, std::byte* a_values, std::size_t weight,
                           const Operand& result, std::byte* values) {
    const MatmulAttributes attributes{.transpose_b = true};
    const Program part{.name = program.name,
                       .attributes = attributes,
                       .inputs = {a, program.inputs[weight]},
                       .outputs = {result}};
    const std::array operands{a_values, inputs[weight]};
    return products_.make_kernel(attributes, Call(part, operands, std::span(&values, 1)));
  };
  const EltwiseAttributes gated{
      .function = Eltwise::multiply, .scalar = {}, .on_a = {{.function = Eltwise::silu}}};
  const Program pass{
      .name = program.name, .attributes = gated, .inputs = {wide, wide}, .outputs = {wide}};
  return [kept, first = product(x, inputs[0], 1, wide, factors[0]),
          second = product(x, inputs[0], 3, wide, factors[1]),
          gating = host::make_kernel(gated, Call(pass, factors, std::span(&hidden, 1)), context_),
          last = product(wide, hidden, 2, program.outputs[0], outputs[0])] {
    first();
    second();
    gating();
    last();
  };
}

}  // namespace howard::host
