// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "experiments/logs/log_content.h"
#include "profiler/formats/log.h"

namespace howard::experiments {

/// Returns `choice` with the chip on which the log was made, if no chip is chosen and the log is of
/// a family of chips other than the default's: the board by how many cores compute. A log of
/// several families has the chip of its first program. Throws Error if a chip is chosen of a family
/// of which the log has no program.
chip::ProfileChoice choice_for(const profiler::Log& log, const chip::ProfileChoice& choice);

/// Returns the same, and after it the chips of other families of which the log has programs, unless
/// a chip is chosen.
std::vector<chip::ProfileChoice> choices_for(const profiler::Log& log,
                                             const chip::ProfileChoice& choice);

/// Compares a log with the emulator of `choice`, or, as above, with that of the log's own chip;
/// `choice` then names it. Errors are those of read_log_content().
LogContent compare_on_its_chip(const std::string& file, chip::ProfileChoice& choice,
                               const profiler::ReadOptions& options);

}  // namespace howard::experiments
