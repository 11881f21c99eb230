// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "profiler/formats/log.h"
#include "profiler/formats/ops_csv/ops_columns.h"

namespace howard::profiler {

/// Calls `take` with each row of an `ops_perf_results` CSV that can be read, in the order of the
/// file, whose texts are valid until it returns; the others are counted in `dropped`. All cores
/// read the cells of different parts of the file at the same time; `take` is not called twice at a
/// time, though from any thread. Memory does not grow with the file. `begin` is told first what the
/// columns say, and a row what is `told` of its call. Returns true when the file ended within a
/// row. Throws Error as `OpsColumns` does, and what `source` and `take` throw.
bool for_each_op_row(
    ByteSource& source, std::string_view name, Tensors tensors, DroppedRows& dropped,
    const std::function<void(const OpRow&)>& take,
    const std::function<void(const OpsFileKnows&)>& begin = [](const OpsFileKnows&) {},
    const ToldCalls* told = nullptr);

/// Returns the whole file as runs, whatever the order of its rows. Signposts and TTML's marks begin
/// sections, ops on the host are summed, a device's clock is found from its cycles and nanoseconds,
/// the host's calls are put on it, and kernels are placed as place_kernels() does. Wrapped 44-bit
/// cycle counters are continued. Throws Error as above, and when the range names what no run has.
Log read_ops_csv(ByteSource& source, std::string_view name, const ReadOptions& options = {});

}  // namespace howard::profiler
