// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace howard {

/// Returns the CRC-32 that Ethernet and zip use.
std::uint32_t checksum(std::string_view bytes);

}  // namespace howard
