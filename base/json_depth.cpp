// SPDX-License-Identifier: Apache-2.0
#include "base/json_depth.h"

#include <string>

#include "base/error.h"

namespace howard {

bool JsonDepth::take(char byte) {
  if (in_text_) {
    in_text_ = escaped_ || byte != '"';
    escaped_ = byte == '\\' && !escaped_;
  } else if (byte == '"') {
    in_text_ = true;
  } else if (byte == '[' || byte == '{') {
    return ++depth_ <= kMostJsonDepth;
  } else if (byte == ']' || byte == '}') {
    --depth_;
  }
  return true;
}

void require_json_depth(std::string_view text, std::string_view attempted) {
  JsonDepth depth;
  for (const char byte : text) {
    if (!depth.take(byte)) refuse_json_depth(attempted);
  }
}

void refuse_json_depth(std::string_view attempted) {
  throw Error({.attempted = std::string(attempted),
               .value = "lists and objects lie in each other more than " +
                        std::to_string(kMostJsonDepth) + " deep",
               .accepted = std::to_string(kMostJsonDepth) + " levels at most"});
}

}  // namespace howard
