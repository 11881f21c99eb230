// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::experiments {

/// A call, and the cores and the L1 that it has where it runs.
struct PlacedCall {
  Program program;
  CoreGrid grid;
  Bytes l1_free;                     ///< The L1 of each core that tensors leave.
  chip::MatmulPlan own_choice = {};  ///< Of a matrix product: how it is made as it is asked for.
};

/// Arguments that a call may have in place of its own, and what its kernels take with them.
struct OtherArguments {
  Attributes attributes;
  SimTime time;
};

/// Says whether a call has arguments that say how it runs, and not what it computes: those that
/// are tuned. They are the configuration of a matrix product (on one core too), the chunks of
/// attention, the blocks and double buffers of a convolution, the grid of a group norm, and the
/// workers, packets and links of a collective, as many of these as the call's own.
bool has_other_arguments(const Attributes& attributes);

/// Returns those of its arguments that are tuned, as ttnn names and writes them in Python, but for
/// the configuration of a matrix product: {"q_chunk_size", "128"}.
std::vector<std::pair<std::string_view, std::string>> tuned_arguments(const Attributes& attributes);

/// Returns the `most` fastest arguments of a call with which it computes the same with the same
/// fidelity, the fastest first; those of which the chip has no room are not among them. `threads`
/// changes how long that takes and nothing else.
std::vector<OtherArguments> fastest_arguments(const PlacedCall& call,
                                              const chip::Profiles& profiles, std::size_t most,
                                              int threads);

}  // namespace howard::experiments
