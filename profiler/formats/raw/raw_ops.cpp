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
#include "profiler/formats/raw/csv_text.h"

namespace howard::profiler {
namespace {

using Json = nlohmann::json;

/// The columns of the CSV that is made, besides those of tensors and of the device's file.
constexpr std::array<std::string_view, 8> kRawColumns{
    "OP CODE",       "OP TYPE",       "GLOBAL CALL COUNT",  "DEVICE ID",
    "MATH FIDELITY", "HOST START TS", "HOST DURATION [ns]", "ATTRIBUTES"};
constexpr std::size_t kRawInputs = 4;
constexpr std::array<std::string_view, 7> kRawTensorCells{
    "W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]",
    "LAYOUT",         "DATATYPE",       "MEMORY"};

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

void append_json_tensor(std::string& row, const Json& tensor) {
  const Json none = Json::object();
  const Json& shape = tensor.contains("shape") ? tensor["shape"] : none;
  for (const char* const side : {"W", "Z", "Y", "X"})
    row += "," + csv_cell(json_member(shape, side));
  row +=
      "," + csv_cell(json_member(tensor, "layout")) + "," + csv_cell(json_member(tensor, "dtype"));
  const Json& storage = tensor.contains("storage_type") ? tensor["storage_type"] : none;
  std::string memory = "HOST";
  if (storage.is_object() && storage.contains("memory_config")) {
    memory = fmt::format("DEV_{}_{}_{}", json_member(storage, "device_id"),
                         json_member(storage["memory_config"], "buffer_type"),
                         json_member(storage["memory_config"], "memory_layout"));
  }
  row += "," + csv_cell(memory);
}

std::string raw_tensor_header() {
  std::string header;
  for (std::size_t i = 0; i <= kRawInputs; ++i) {
    const std::string tensor = i < kRawInputs ? fmt::format("INPUT_{}", i) : "OUTPUT_0";
    for (const std::string_view cell : kRawTensorCells)
      header += fmt::format(",{}_{}", tensor, cell);
  }
  return header;
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

/// Holds the ops by their call count, each as its message says, or as the first one of the same
/// hash, whose short message names.
class OpMessages {
 public:
  explicit OpMessages(std::string_view data) {
    for (const std::string_view message : messages_of(data)) {
      if (message.find("TT_DNN") != std::string_view::npos) add(message);
    }
  }

  const std::map<std::int64_t, Json>& all() const { return ops_; }

 private:
  void add(std::string_view message) {
    const std::size_t arrow = message.find("->");
    const std::size_t open = message.find('{');
    if (arrow != std::string_view::npos && open != std::string_view::npos) {
      const Json op = Json::parse(message.substr(open), nullptr, false);
      const auto call =
          op.is_object() ? parse_integer(json_member(op, "global_call_count")) : std::nullopt;
      if (!call) return;
      if (op.contains("op_hash"))
        first_[{json_member(op, "device_id"), json_member(op, "op_hash")}] = op;
      ops_.insert_or_assign(*call, op);
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
    if (call && known != first_.end()) ops_.insert_or_assign(*call, known->second);
  }

  std::map<std::int64_t, Json> ops_;
  std::map<std::pair<std::string, std::string>, Json> first_;
};

struct CallTimes {
  std::string start, duration;
};

/// Returns the host's times by call count: a zone's text ends with it.
std::map<std::int64_t, CallTimes> host_times_of_calls(std::string_view times) {
  std::map<std::int64_t, CallTimes> found;
  const CsvText csv(times);
  for (const std::vector<std::string>& row : csv.rows) {
    std::string zone = csv.cell(row, "zone_text");
    if (zone.empty()) zone = csv.cell(row, "name");
    const std::size_t colon = zone.rfind(':');
    if (colon == std::string::npos) continue;
    const auto call = parse_integer(trimmed(std::string_view(zone).substr(colon + 1)));
    if (!call) continue;
    found.insert_or_assign(
        *call, CallTimes{csv.cell(row, "ns_since_start"), csv.cell(row, "exec_time_ns")});
  }
  return found;
}

/// Returns the cells of what the host knows of an op, and of its tensors.
std::string host_cells(const Json& op, std::int64_t call, std::string_view device,
                       std::string_view type, const CallTimes& times) {
  std::string code = json_member(op, "op_code");
  if (code.empty()) code = json_member(op, "op_name");
  std::string row = fmt::format("{},{},{},{},{},{},{},{}", csv_cell(code), type, call, device,
                                csv_cell(json_fidelity(op)), times.start, times.duration,
                                csv_cell(json_attributes(op)));
  const Json none = Json::object();
  const auto tensors = [&](const char* name) {
    return op.contains(name) && op[name].is_array() ? op[name] : Json::array();
  };
  const Json inputs = tensors("input_tensors");
  const Json outputs = tensors("output_tensors");
  for (std::size_t i = 0; i < kRawInputs; ++i)
    append_json_tensor(row, i < inputs.size() ? inputs[i] : none);
  append_json_tensor(row, outputs.empty() ? none : outputs[0]);
  return row;
}

}  // namespace

std::string ops_csv_of(const RawFiles& files, std::string_view name) {
  const OpMessages ops(files.ops);
  const std::map<std::int64_t, CallTimes> times = host_times_of_calls(files.times);
  if (ops.all().empty() && times.empty()) {
    throw Error({.attempted = fmt::format("read {} as tt-metal's raw files", name),
                 .value = "no message of an op is in it",
                 .accepted = "tracy_ops_data.csv, with tracy_ops_times.csv and "
                             "cpp_device_perf_report.csv beside it"});
  }
  const CsvText devices(files.devices);
  std::string csv = join(std::vector<std::string>(kRawColumns.begin(), kRawColumns.end()), ",") +
                    raw_tensor_header();
  std::vector<std::string> extra;  // what the device's file has besides
  for (const std::string& column : devices.header) {
    const bool known = std::ranges::find(kRawColumns, column) != kRawColumns.end();
    if (!known && column != "OP NAME") extra.push_back(column);
  }
  if (extra.empty()) extra.emplace_back("DEVICE KERNEL DURATION [ns]");
  for (const std::string& column : extra) csv += fmt::format(",{}", csv_cell(column));
  csv += "\n";
  const auto times_of = [&](std::int64_t call) {
    const auto found = times.find(call);
    return found != times.end() ? found->second : CallTimes{};
  };
  for (const std::vector<std::string>& row : devices.rows) {
    const auto call = parse_integer(devices.cell(row, "GLOBAL CALL COUNT"));
    const auto op = call ? ops.all().find(*call) : ops.all().end();
    const Json fallback{{"op_code", devices.cell(row, "OP NAME")}};
    csv += host_cells(op != ops.all().end() ? op->second : fallback, call.value_or(0),
                      devices.cell(row, "DEVICE ID"), "tt_dnn_device", times_of(call.value_or(0)));
    for (const std::string& column : extra)
      csv += fmt::format(",{}", csv_cell(devices.cell(row, column)));
    csv += "\n";
  }
  if (!devices.rows.empty()) return csv;
  for (const auto& [call, op] : ops.all()) {
    csv += host_cells(op, call, "", "call", times_of(call)) + ",\n";
  }
  if (!ops.all().empty()) return csv;
  const Json unnamed{{"op_code", "(an op without a name)"}};
  for (const auto& [call, time] : times) {
    csv += host_cells(unnamed, call, "", "call", time) + ",\n";
  }
  return csv;
}

}  // namespace howard::profiler
