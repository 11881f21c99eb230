// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "profiler/formats/log.h"
#include "reports/findings/log_advice_report.h"
#include "reports/pictures/picture.h"

namespace howard::reports {

/// Draws a run of a log: NAME_gaps and NAME_causes as write_gap_plots() does, a lane for each
/// device; NAME_ops (kernel time by op); NAME_idle (the idle time of the first device by cause,
/// over time); and NAME_roofline (its products under the chip's roofline) where `advice` knows
/// some. A picture of which the run has nothing is not drawn.
PlotFiles write_log_plots(const profiler::LoggedRun& run, const LogAdvice& advice,
                          const std::string& name, const Canvas& canvas);

}  // namespace howard::reports
