// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "profiler/formats/log.h"
#include "profiler/formats/ops_columns.h"

namespace howard::profiler {

/// Calls `take` with each row of an `ops_perf_results` CSV that can be read, in the order of the
/// file. The texts of a row are valid until `take` returns. The other rows are counted in
/// `dropped`. All cores read the cells of different parts of the file at the same time; `take` is
/// called from any thread, but never twice at a time. Memory does not grow with the file. Returns
/// true if the file ended within a row. Errors are those of `OpsColumns` and what `source` and
/// `take` throw.
bool for_each_op_row(ByteSource& source, std::string_view name, Tensors tensors,
                     DroppedRows& dropped, const std::function<void(const OpRow&)>& take);

/// Reads the whole file as runs. Signposts begin sections, ops on the host are summed, and a
/// device's clock is found from its cycles and nanoseconds. The file does not have the starts of
/// kernels. They are placed within their firmware's span so that the distances between them are
/// those of the op-to-op column. Wrapped 44-bit cycle counters are continued. Errors are those of
/// for_each_op_row().
Log read_ops_csv(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
