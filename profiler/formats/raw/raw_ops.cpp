// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/raw/raw_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/csv/decimal.h"
#include "profiler/formats/raw/csv_text.h"

namespace howard::profiler {
namespace {

using Json = nlohmann::json;

std::string json_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : value.dump();
}

std::string json_member(const Json& object, const char* name) {
  return object.is_object() && object.contains(name) ? json_text(object[name]) : std::string();
}

/// Returns "{'transpose_a': 'false'; 'dim': '3'}", as an ops_perf_results CSV has attributes.
std::string json_attributes(const Json& op) {
  if (!op.contains("attributes") || !op["attributes"].is_object()) return "{}";
  std::string text = "{";
  for (const auto& [name, value] : op["attributes"].items()) {
    text += fmt::format("{}'{}': '{}'", text.size() > 1 ? "; " : "", name, json_text(value));
  }
  std::ranges::replace(text, ',', ';');
  return text + "}";
}

std::string json_fidelity(const Json& op) {
  if (!op.contains("kernel_info")) return json_member(op, "math_fidelity");
  const Json& kernels = op["kernel_info"];
  if (!kernels.is_object() || !kernels.contains("compute_kernels")) return "";
  const Json& compute = kernels["compute_kernels"];
  return compute.is_array() && !compute.empty() ? json_member(compute[0], "math_fidelity") : "";
}

/// Returns the messages of tracy_ops_data.csv, which stand in backticks where they have several
/// lines.
std::vector<std::string_view> messages_of(std::string_view text) {
  std::vector<std::string_view> messages;
  text.remove_prefix(std::min(text.size(), text.find('\n')));
  while (!text.empty()) {
    text.remove_prefix(1);  // the end of the line before
    const bool long_one = text.starts_with('`');
    const std::size_t begin = long_one ? 1 : 0;
    const std::size_t end = long_one ? text.find("`;", 1) : text.find(';');
    if (end == std::string_view::npos) break;
    messages.push_back(text.substr(begin, end - begin));
    text.remove_prefix(std::min(text.size(), text.find('\n', end)));
  }
  return messages;
}

/// Reads what the ops are, each as its message says, or as the first one of the same hash, whose
/// short message names.
class OpMessages {
 public:
  OpMessages(std::string_view data, ToldCalls& told) : told_(told) {
    for (const std::string_view message : messages_of(data)) {
      if (message.find("TT_DNN") != std::string_view::npos) add(message);
    }
  }

 private:
  void add(std::string_view message) {
    const std::size_t arrow = message.find("->");
    const std::size_t open = message.find('{');
    if (arrow != std::string_view::npos && open != std::string_view::npos) {
      const Json op = Json::parse(message.substr(open), nullptr, false);
      const auto call =
          op.is_object() ? parse_integer(json_member(op, "global_call_count")) : std::nullopt;
      if (!call) return;
      const OpRow& row = told_.rows.insert_or_assign(*call, row_of(op)).first->second;
      if (op.contains("op_hash"))
        first_[{json_member(op, "device_id"), json_member(op, "op_hash")}] = row;
      return;
    }
    // "TT_DNN_DEVICE_OP: Matmul, hash, device, call"
    const std::size_t colon = message.find(':');
    if (colon == std::string_view::npos) return;
    std::vector<std::string> parts;
    for (const std::string& part : split(message.substr(colon + 1), ',')) {
      parts.emplace_back(trimmed(part));
    }
    if (parts.size() < 4) return;
    const auto call = parse_integer(parts[3]);
    const auto known = first_.find({parts[2], parts[1]});
    if (call && known != first_.end()) told_.rows.insert_or_assign(*call, known->second);
  }

  OpRow row_of(const Json& op) {
    const char* const name = json_member(op, "op_code").empty() ? "op_name" : "op_code";
    return {.name = keep(json_member(op, name)),
            .attributes = keep(json_attributes(op)),
            .fidelity = keep(json_fidelity(op)),
            .inputs = tensors_of(op, "input_tensors", 4),
            .outputs = tensors_of(op, "output_tensors", 1)};
  }

  std::vector<TensorCells> tensors_of(const Json& op, const char* list, std::size_t most) {
    std::vector<TensorCells> found;
    if (!op.contains(list) || !op[list].is_array()) return found;
    for (std::size_t i = 0; i < std::min(most, op[list].size()); ++i) {
      found.push_back(tensor_of(op[list][i]));
      if (found.back().dimensions[3].empty()) found.pop_back();
    }
    return found;
  }

  TensorCells tensor_of(const Json& tensor) {
    const Json none = Json::object();
    const Json& shape = tensor.contains("shape") ? tensor["shape"] : none;
    const Json& storage = tensor.contains("storage_type") ? tensor["storage_type"] : none;
    const auto side = [&](const char* name) { return keep(json_member(shape, name)); };
    TensorCells cells{.dimensions = {side("W"), side("Z"), side("Y"), side("X")},
                      .layout = keep(json_member(tensor, "layout")),
                      .datatype = keep(json_member(tensor, "dtype")),
                      .memory = "HOST"};
    if (storage.is_object() && storage.contains("memory_config")) {
      cells.memory = keep(fmt::format("DEV_{}_{}_{}", json_member(storage, "device_id"),
                                      json_member(storage["memory_config"], "buffer_type"),
                                      json_member(storage["memory_config"], "memory_layout")));
    }
    return cells;
  }

  std::string_view keep(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return trimmed(told_.texts.emplace_back(std::move(text)));
  }

  ToldCalls& told_;
  std::map<std::pair<std::string, std::string>, OpRow> first_;
};

/// Reads when the host made its calls, and for how long: a zone's text ends with the call's count.
void read_host_times(std::string_view times, ToldCalls& told) {
  const CsvText csv(times);
  for (const std::vector<std::string>& row : csv.rows) {
    std::string zone = csv.cell(row, "zone_text");
    if (zone.empty()) zone = csv.cell(row, "name");
    const std::size_t colon = zone.rfind(':');
    if (colon == std::string::npos) continue;
    const auto call = parse_integer(trimmed(std::string_view(zone).substr(colon + 1)));
    if (!call) continue;
    OpRow& of = told.rows[*call];
    of.host_start = parse_scaled(csv.cell(row, "ns_since_start"), 0);
    const auto time = parse_scaled(csv.cell(row, "exec_time_ns"), 3);
    if (time && *time >= 0) of.host_time = SimTime::picoseconds(*time);
  }
}

}  // namespace

std::string read_raw_files(const RawFiles& files, std::string_view name, ToldCalls& told) {
  if (files.ops.empty() && files.times.empty()) return files.devices;
  const OpMessages messages(files.ops, told);
  const bool has_names = !told.rows.empty();
  read_host_times(files.times, told);
  if (told.rows.empty()) {
    throw Error({.attempted = fmt::format("read {} as tt-metal's raw files", name),
                 .value = "no message of an op is in it",
                 .accepted = "tracy_ops_data.csv, with tracy_ops_times.csv and "
                             "cpp_device_perf_report.csv beside it"});
  }
  if (!files.devices.empty()) return files.devices;
  std::string calls = "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE KERNEL DURATION [ns]\n";
  for (const auto& [call, row] : told.rows) {
    if (has_names && row.name.empty()) continue;
    calls += fmt::format("(an op without a name),call,{},,\n", call);
  }
  return calls;
}

}  // namespace howard::profiler
