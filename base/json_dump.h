// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace howard {

/// Returns a value of nlohmann's as text, in one line or with `indent`. A text of a file may be no
/// UTF-8, for which the library's own dump() throws; here such bytes become U+FFFD.
template <class Json>
std::string json_dump(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace howard
