// SPDX-License-Identifier: Apache-2.0
#include "base/checksum.h"

#include <boost/crc.hpp>

namespace howard {

std::uint32_t checksum(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

}  // namespace howard
