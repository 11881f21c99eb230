// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard {

/// Holds products of times, rates and parts that do not fit 64 bits, as hours of picoseconds times
/// a clock. The type is not in ISO C++, hence the marker.
__extension__ using Wide = __int128;

}  // namespace howard
