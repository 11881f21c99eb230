// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "profiler/formats/log.h"
#include "profiler/formats/ops_columns.h"

namespace howard::profiler {

/// Calls `take` with each row of an `ops_perf_results` CSV that can be read, in the order of the
/// file, whose texts are valid until it returns; the others are counted in `dropped`. All cores
/// read the cells of different parts of the file at the same time; `take` is not called twice at a
/// time, though from any thread. Memory does not grow with the file. Returns true when the file
/// ended within a row. Error as for `OpsColumns`, and what `source` and `take` throw.
bool for_each_op_row(ByteSource& source, std::string_view name, Tensors tensors,
                     DroppedRows& dropped, const std::function<void(const OpRow&)>& take);

/// The whole file as runs. Signposts begin sections, ops on the host are summed, a device's clock
/// is found from its cycles and nanoseconds. The file has no kernel's start: kernels are placed
/// within their firmware's span so that the distances between them are those of the op-to-op
/// column. Wrapped 44-bit cycle counters are continued. Error as above.
Log read_ops_csv(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
