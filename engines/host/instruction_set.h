// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// For what must be compiled for the instruction set of the function it is called from: lambdas
/// given to vectorised(), and everything they call.
#define HOWARD_INLINE __attribute__((always_inline))

namespace howard::host {

/// The levels of the x86-64 psABI that kernels are compiled for: SSE4.2, AVX2, AVX-512.
enum class InstructionSet : std::uint8_t { v2, v3, v4 };

/// The best one of this CPU, or HOWARD_MAX_INSTRUCTION_SET (v2, v3, v4) of the environment where
/// that is less, so that what another CPU computes can be seen on this one. oneDNN's own switch is
/// DNNL_MAX_CPU_ISA. What every program is assumed to have is v2. Error for another word.
InstructionSet best_instruction_set();

template <class Body>
[[gnu::target("arch=x86-64-v4"), gnu::noinline]] auto run_on_v4(const Body& body) {
  return body();
}
template <class Body>
[[gnu::target("arch=x86-64-v3"), gnu::noinline]] auto run_on_v3(const Body& body) {
  return body();
}
template <class Body>
[[gnu::target("arch=x86-64-v2"), gnu::noinline]] auto run_on_v2(const Body& body) {
  return body();
}

/// body(), compiled for `set`, which this CPU must have. The body is a HOWARD_INLINE lambda.
///
/// The compiler's own function multiversioning (target_clones) chooses by ifunc, whose resolvers
/// run before the sanitizers are ready, and would have to be written at each of many loops.
template <class Body>
auto run_on(InstructionSet set, const Body& body) {
  switch (set) {
    case InstructionSet::v4:
      return run_on_v4(body);
    case InstructionSet::v3:
      return run_on_v3(body);
    case InstructionSet::v2:
      break;
  }
  return run_on_v2(body);
}

/// body(), compiled for the best instruction set of this CPU. No kernel depends on how many numbers
/// fit a register, and products and sums are never fused (-ffp-contract=off), so that all sets give
/// the same bits.
template <class Body>
auto vectorised(const Body& body) {
  return run_on(best_instruction_set(), body);
}

}  // namespace howard::host
