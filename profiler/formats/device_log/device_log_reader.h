// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

/// Reads the programs in a `profile_log_device.csv` of 13 or 15 columns. A program runs from the
/// first start to the last end of the zones named *KERNEL of all its cores and RISCs. It is named
/// after its run host ID, because the file has no ops; add_zones() finds their names in an ops CSV.
/// `LoggedRun::zones` has the kernels of its RISCs and the zones within them. If a RISC starts a
/// program again, that is another run of it (of a replayed trace). If its cycle counter has fallen
/// too, the device was reset, and another run of the whole begins. A repeated first line also
/// begins one.
///
/// Starts without an end, ends without a start and rows that cannot be read are counted as dropped.
/// Throws Error if the first two lines are not those of such a file.
Log read_device_log(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
