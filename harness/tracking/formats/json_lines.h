// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "harness/tracking/run.h"

namespace howard::tracking {

/// Returns conditions and constants as one line of JSON; equal ones give equal bytes.
std::string conditions_json(const Conditions& conditions, const Constants& constants);

/// Reads conditions and constants from such a line. Throws Error if it is none.
void parse_conditions(std::string_view json, Conditions& conditions, Constants& constants);

/// Returns a run as one line of JSON of schema "howard.run/1", without the line break, in which
/// nothing is lost.
std::string run_line(const Run& run);

/// Names a run by what it holds, so that a copy of it is known: 32 hexadecimal digits. The first
/// half is that of what was measured, the second that of the commit and the branch. Values that may
/// well be the same again, such as sizes without a date or samples, have the commit in both.
std::string content_id(const Run& run);

/// Reads a run from such a line. `source` names the file and the line in messages. Throws Error,
/// with the place and what is there, for anything else.
Run parse_run_line(std::string_view line, std::string_view source);

}  // namespace howard::tracking
