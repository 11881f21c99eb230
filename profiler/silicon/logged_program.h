// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/band.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"

namespace howard::profiler {

/// A program of a log as the emulator has it.
struct LoggedProgram {
  Program program;
  /// The emulator has no such op: one that moves as much and computes much the same stands for it.
  bool stands_in = false;
  /// Attributes that say something and that nothing reads: its time may depend on them.
  std::vector<std::string> unread = {};
};

/// Counts programs by the attributes of theirs that nothing reads: "use_welford of LayerNorm".
class UnreadAttributes {
 public:
  /// Counts programs of `op`, of whose attributes nothing reads `names`.
  void add(std::string_view op, std::span<const std::string> names, std::uint64_t programs = 1);
  /// Returns a note that names the commonest; empty if there are none.
  std::string note() const;

 private:
  std::map<std::string, std::uint64_t> programs_;
};

/// Makes the emulator's program of a row of a log: what ttnn's device operation was asked to
/// compute, by its OP CODE, ATTRIBUTES, MATH FIDELITY and tensors. The result is absent if the
/// emulator has no such op. Throws Error, with the reason, if it has the op but cannot run this
/// call: sharded operands, an activation that is fused into it, operands that do not fit.
///
/// Its operands have no memory, so the program can be planned but not run. Operands for which the
/// log has no columns are made up from what it has (the statistics of a layer norm).
std::optional<LoggedProgram> logged_program(const OpRow& row);

/// Returns the product of a row's operands as ttnn.matmul runs it at the row's fidelity, without a
/// configuration. The result is absent if the emulator cannot multiply them.
std::optional<Program> plain_product(const OpRow& row);

/// Plans it, and says how well its time is known.
struct PlannedCall {
  chip::PlannedProgram planned;
  const chip::Band* band = nullptr;  ///< Never null.
};
PlannedCall plan_call(const LoggedProgram& logged, CoreGrid grid, const chip::Profiles& profiles);

/// Returns why a call cannot be emulated, in one line: what it has, and what is accepted.
std::string reason_of(const Error& failure);

/// Returns the cores over which the op could be spread, by its attribute worker_grid, which not all
/// ops have, or by AVAILABLE WORKER CORE COUNT. The result is absent if the log has neither. Throws
/// Error if their number is not a grid of chips like `chip`, of which other rows (or columns, if
/// dispatch takes a column) may be harvested.
std::optional<CoreGrid> logged_grid(const OpRow& row, const chip::ChipProfile& chip);

/// Returns the cores that logs of the chip say it has for programs, as most of them are made: on
/// Wormhole with ETH dispatch, on Blackhole with WORKER dispatch.
CoreGrid usual_grid(const chip::ChipProfile& chip);
/// Returns the cores that a log without AVAILABLE WORKER CORE COUNT had for programs: those that
/// either way of dispatch leaves, if its busiest op used as many (`used_cores`), otherwise
/// usual_grid().
CoreGrid grid_by_use(std::int64_t used_cores, const chip::ChipProfile& chip);

}  // namespace howard::profiler
