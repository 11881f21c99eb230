// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/byte_source.h"
#include "profiler/formats/read_trace.h"

namespace howard::profiler {

/// Whether a file that begins with `beginning` is a Perfetto trace: it consists of packets.
bool is_perfetto_trace(std::string_view beginning);

/// The spans of a Perfetto trace (protobuf), as `perfetto_trace` writes it; of one by another
/// program, those that it gives as begins and ends on tracks it describes. Damaged packets and ends
/// without a begin are counted as dropped; a file that breaks off is read as far as it goes. Error
/// when it holds no span.
ReadTrace read_perfetto_events(ByteSource& source, std::string_view name, DroppedRows& dropped,
                               std::vector<std::string>& notes);

/// As above, as `log_of` takes it.
Log read_perfetto_trace(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
