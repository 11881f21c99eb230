// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>

#include "base/json_node.h"
#include "engines/query/op.h"
#include "engines/workload/op_list_file.h"

namespace howard::query {
namespace {

/// Reads one tensor or a list of them.
template <class Read>
void each_tensor(const JsonNode& node, const Read& read) {
  if (!node.is_array()) return read(node);
  for (const JsonNode& one : node.items()) read(one);
}

/// Reads a size, or {"bytes":4096,"address":1200000}.
LiveBuffer live_buffer(const JsonNode& node) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!node.is_object()) return {.size = Bytes(node.integer(0, kMost)), .address = {}};
  LiveBuffer buffer{.size = Bytes(node.member("bytes").integer(0, kMost)), .address = {}};
  if (node.has("address")) buffer.address = Bytes(node.member("address").integer(0, kMost));
  return buffer;
}

}  // namespace

OpCall parse_call(std::string_view json) {
  const JsonDocument document(json, {.attempted = "read a call of an op",
                                     .accepted = "{\"op\":\"matmul\",\"in\":[\"64x128\",...]}"});
  OpCall call;
  for (const auto& [name, value] : document.root().members()) {
    if (name == "op") {
      call.op = value.filled_text();
    } else if (name == "in") {
      each_tensor(value, [&](const JsonNode& one) {
        call.inputs.emplace_back();
        if (!one.is_null()) call.inputs.back() = workload::read_spec(one);
      });
    } else if (name == "out") {
      each_tensor(value,
                  [&](const JsonNode& one) { call.outputs.push_back(workload::read_spec(one)); });
    } else if (name == "live") {
      if (value.is_null()) continue;
      call.live.emplace();
      for (const JsonNode& one : value.items()) call.live->push_back(live_buffer(one));
    } else {
      call.attributes +=
          fmt::format("{}\"{}\":{}", call.attributes.empty() ? "{" : ",", name, value.dump());
    }
  }
  if (!call.attributes.empty()) call.attributes += "}";
  if (call.op.empty()) document.root().fail("an object with \"op\" and \"in\"");
  return call;
}

}  // namespace howard::query
