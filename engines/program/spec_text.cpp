// SPDX-License-Identifier: Apache-2.0
#include "engines/program/spec_text.h"

#include <utility>

#include "engines/program/sharding.h"

namespace howard {
namespace {

/// Notes that something was said. Returns `twice` if it was said before.
std::string_view say(bool& said, std::string_view twice) {
  return std::exchange(said, true) ? twice : std::string_view();
}

}  // namespace

std::string_view SpecWords::refuse(std::string_view word) {
  if (const auto type = find_data_type(word)) {
    spec_.dtype = *type;
    return say(has_dtype_, "one data type");
  }
  if (word == "tile" || word == "row_major") {
    spec_.layout = word == "tile" ? Layout::tile : Layout::row_major;
    return say(has_layout_, "one layout");
  }
  if (word == "dram" || word == "l1") {
    spec_.storage = word == "dram" ? Storage::dram : Storage::l1;
    return say(has_storage_, "one memory");
  }
  const auto shards = parse_sharding(word);
  if (!shards)
    return "a data type, tile or row_major, dram or l1, or shards as \"height:8x4:32x512\"";
  if (std::exchange(spec_.sharding, shards)) return "one sharding";
  if (!has_storage_) spec_.storage = Storage::l1;
  return {};
}

}  // namespace howard
