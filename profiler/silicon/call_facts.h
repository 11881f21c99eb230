// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/profiles/profile.h"
#include "profiler/formats/ops_csv/ops_columns.h"
#include "profiler/silicon/logged_program.h"

namespace howard::profiler {

/// Says what a call of a log had to do, by its operands, and what the chip could do at the most.
struct CallFacts {
  std::string operands;        ///< "32x1280 bfloat16, 1280x1280 bfloat16 -> 32x1280 bfloat16".
  std::string short_operands;  ///< "32x1280 @ 1280x1280 bf16": one type where all have it.
  Flops flops;                 ///< Of a matrix product, a convolution or an attention; else 0.
  Bytes dram;                  ///< What is read from DRAM and written to it; an operand once.
  /// The part of a product's second operand that is read again for each matrix of the first one's
  /// batch, beside `dram`.
  Bytes read_again;
  std::int64_t batch = 1;        ///< The matrices of a first operand that share the second one.
  bool knows_sizes = false;      ///< All operands could be read; else `dram` means nothing.
  bool moves_a_part = false;     ///< Of a cache it touches a part that the log does not say.
  std::int64_t work_units = 0;   ///< Result tiles: cores beyond their number have nothing to do.
  std::optional<SimTime> ideal;  ///< The log's PM IDEAL, where it has a model of the op.
  /// What that model has the op wait for: "compute" or "bandwidth"; "" where it has none.
  std::string_view ideal_bound;
};

CallFacts facts_of(const OpRow& call);

/// Says why the emulator has no time for a call.
enum class Obstacle : std::uint8_t {
  none,
  other_chip,    ///< The log is of another chip than the emulator's.
  beyond_limit,  ///< Other calls take more of the time.
  no_such_op,
  refused,  ///< The emulator has the op and cannot run this call.
};

/// Holds a call as the emulator would run it, alone on the chip.
struct EmulatedCall {
  SimTime kernel;
  int cores = 0;
  std::string_view bound_by;
  /// The places of a cache that it saw by the time that it took in the log, which does not tell
  /// them; 0 for all other calls.
  std::int64_t places = 0;
  std::string_view known;     ///< What its time rests on: "calibrated", "one kernel", "by analogy".
  double expected_error = 0;  ///< How far such times are off on average: 0.06 is 6 %.
  Program program;            ///< What it ran. A what-if is this with a change.
};

struct CallObstacle {
  Obstacle kind{};
  std::string text;
};

/// Runs calls of logs on an emulated chip: on that of the family that a call's row names, if there
/// is one, otherwise on the first.
class CallEmulator {
 public:
  explicit CallEmulator(const chip::Profiles& profiles);
  /// Adds a chip of another family.
  void add(const chip::Profiles& profiles);
  /// Says how many cores the busiest op of the log used, for calls that do not tell how many there
  /// were.
  void set_used_cores(std::int64_t cores) { used_cores_ = cores; }

  /// The result is absent when the emulator cannot run it; `why`, if given, then gets the reason.
  /// `measured` tells the position that the log lacks, if it does; without it all places are seen.
  std::optional<EmulatedCall> run(const OpRow& call, CallObstacle* why = nullptr,
                                  SimTime measured = {}) const;
  /// Runs another program on the chip and the cores that a call has.
  std::optional<EmulatedCall> run(const OpRow& call, Program instead) const;

  /// Returns the first chip.
  const chip::ChipProfile& chip() const { return chips_.front().chip; }
  /// Returns the chip on which a call would run.
  const chip::ChipProfile& chip_of(const OpRow& call) const;
  /// Returns the time of a kernel that has next to nothing to do, on the first chip.
  SimTime launch() const;

 private:
  /// Throws Error when the program cannot be planned on the call's cores.
  EmulatedCall emulate(const OpRow& call, LoggedProgram logged, SimTime measured) const;
  /// Returns the place of the chip on which a call runs.
  std::size_t place_of(const OpRow& call) const;

  std::deque<chip::Profiles> chips_;  ///< Never moves one.
  std::int64_t used_cores_ = 0;
};

/// Returns the time in which a chip could move the bytes at the peak of its DRAM. It is zero when
/// there are none, or they are not known.
SimTime dram_time_at_peak(const CallFacts& facts, const chip::ChipProfile& chip);
/// Returns the same for any number of bytes.
SimTime dram_time_of(Bytes bytes, const chip::ChipProfile& chip);
/// Returns the time in which `cores` cores could do the operations at `fidelity`. A product whose
/// fidelity the log does not say has HiFi2, ttnn's default for bfloat16. The time is zero as above.
SimTime flops_time_at_peak(const CallFacts& facts, const chip::ChipProfile& chip, int cores,
                           std::string_view fidelity);

}  // namespace howard::profiler
