// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "profiler/formats/log.h"

namespace howard::profiler {

/// Joins the logs of several hosts that ran one program together to one log: the first run of each
/// to one run, and so on. Devices are numbered on from file to file, and a note says which file has
/// which. The hosts' clocks have nothing in common, so that each file's times are counted as they
/// are. Calls that several files have are one. Throws Error unless all logs have equally many runs.
/// `names` are the files', as many as `logs`; both are never empty.
Log join_logs(std::span<const Log* const> logs, std::span<const std::string> names);

}  // namespace howard::profiler
