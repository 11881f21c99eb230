// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Orders calls by what the chip makes of them: the op, its arguments and its operands without
/// their buffers.
struct CallOrder {
  bool operator()(const Program& a, const Program& b) const;
};

/// Holds other arguments for calls. A chip that has them runs each of these calls as if its caller
/// had given them, as ttnn does with its registry of measured matmul configurations.
class TunedCalls {
 public:
  /// Replaces what was set for such a call before.
  void set(const Program& call, Attributes attributes);
  /// Returns null if the call runs as it is asked for.
  const Attributes* find(const Program& call) const;

 private:
  std::map<Program, Attributes, CallOrder> tuned_;
};

/// A call as a chip was asked for it, and what the chip ran.
struct AskedCall {
  Program program;
  std::span<const PlannedProgram> launches;  ///< They live as long as the chip.
  CoreGrid grid;                             ///< The cores that it might use.
  Bytes l1_free;                             ///< What tensors left of each core's L1.

  SimTime kernel_time() const;
};

/// Hears of the calls that a chip runs, as often as it runs them: replays of traces too.
class CallSink {
 public:
  virtual ~CallSink() = default;
  /// `profiles` are those of the chip.
  virtual void ran(const AskedCall& call, const Profiles& profiles) = 0;
};

}  // namespace howard::chip
