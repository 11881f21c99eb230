// SPDX-License-Identifier: Apache-2.0
#include "engines/program/whole_numbers.h"

#include <cstring>

namespace howard {

std::int64_t wrapped(DataType dtype, std::int64_t value) {
  return with_whole_type(dtype, [value](auto type) {
    return static_cast<std::int64_t>(static_cast<typename decltype(type)::type>(value));
  });
}

std::int64_t read_whole(DataType dtype, const std::byte* from) {
  return with_whole_type(dtype, [from](auto type) {
    typename decltype(type)::type value{};
    std::memcpy(&value, from, sizeof(value));
    return static_cast<std::int64_t>(value);
  });
}

void write_whole(DataType dtype, std::int64_t value, std::byte* to) {
  with_whole_type(dtype, [value, to](auto type) {
    const auto bits = static_cast<typename decltype(type)::type>(value);
    std::memcpy(to, &bits, sizeof(bits));
  });
}

}  // namespace howard
