// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engines/chip/profiles/profile.h"
#include "experiments/logs/log_content.h"
#include "profiler/formats/log.h"

namespace howard::experiments {

/// Returns `choice` with the chip on which the log was made, if no chip is chosen and the log is of
/// a family of chips other than the default's: the board by how many cores compute. Throws Error if
/// a chip of another family is chosen.
chip::ProfileChoice choice_for(const profiler::Log& log, const chip::ProfileChoice& choice);

/// Compares a log with the emulator of `choice`, or, as above, with that of the log's own chip;
/// `choice` then names it. Errors are those of read_log_content().
LogContent compare_on_its_chip(const std::string& file, chip::ProfileChoice& choice,
                               const profiler::ReadOptions& options);

}  // namespace howard::experiments
