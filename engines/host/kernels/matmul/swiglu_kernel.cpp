// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/swiglu_kernel.h"

#include <array>

#include "base/error.h"
#include "engines/host/kernels/kernels.h"

namespace howard::host {

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
  const Operand wide{.spec = {x.spec.shape.with_columns(gate.spec.shape.rows()), x.spec.dtype}};
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
