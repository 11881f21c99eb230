// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Marks code that must be compiled for the instruction set of its caller: lambdas given to
/// vectorised(), and everything they call.
#define HOWARD_INLINE __attribute__((always_inline))

namespace howard::host {

/// The levels of the x86-64 psABI that kernels are compiled for: SSE4.2 (v2), AVX2 (v3) and AVX-512
/// (v4).
enum class InstructionSet : std::uint8_t { v2, v3, v4 };

/// Returns the best level that this CPU supports, or HOWARD_MAX_INSTRUCTION_SET (v2, v3, v4) from
/// the environment if that is lower, so that one can see on this CPU what another CPU computes.
/// oneDNN has its own switch, DNNL_MAX_CPU_ISA. Every program assumes at least v2. Throws Error for
/// another word.
InstructionSet best_instruction_set();

template <class Body>
[[gnu::target("arch=x86-64-v4"), gnu::noinline]] auto run_on_v4(const Body& body) {
  return body();
}
template <class Body>
[[gnu::target("arch=x86-64-v3"), gnu::noinline]] auto run_on_v3(const Body& body) {
  return body();
}
// Only CPUs from before 2013 stop at v2. GCC does not vectorise loops for them, which was a third
// of its time for the host's kernels.
#ifndef __clang__
#define HOWARD_OLD_CPU [[gnu::optimize("no-tree-vectorize")]]
#else
#define HOWARD_OLD_CPU
#endif
template <class Body>
HOWARD_OLD_CPU [[gnu::target("arch=x86-64-v2"), gnu::noinline]] auto run_on_v2(const Body& body) {
  return body();
}
#undef HOWARD_OLD_CPU

/// Runs body() compiled for `set`, which this CPU must support. The body is a HOWARD_INLINE lambda.
///
/// The compiler's own function multiversioning (target_clones) chooses by ifunc. Its resolvers run
/// before the sanitizers are ready, and it would have to be written at each of many loops.
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

/// Runs body() compiled for the best instruction set of this CPU. No kernel depends on how many
/// numbers fit a register, and products and sums are never fused (-ffp-contract=off), so all sets
/// give the same bits.
template <class Body>
auto vectorised(const Body& body) {
  return run_on(best_instruction_set(), body);
}

}  // namespace howard::host
