// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/workload_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json_depth.h"
#include "base/text.h"
#include "engines/device/sharding.h"
#include "engines/workload/launch.h"
#include "engines/workload/op_list_file.h"

namespace howard::workload {
namespace {

using WorkloadJson = nlohmann::json;

/// The names are in the order of Step.
constexpr std::array<const char*, 20> kStepNames{
    "make",          "release",       "write",  "read",         "call",
    "finish",        "record",        "wait",   "begin_trace",  "end_trace",
    "execute_trace", "release_trace", "python", "begin_region", "end_region",
    "signpost",      "sub_devices",   "ttnn",   "miss",         "compile"};
constexpr std::size_t kSteps = static_cast<std::size_t>(Step::compile) + 1;

/// Returns "2x64x64 bfloat16 tile dram", followed for a sharded tensor by "l1 height:8x4:32x512".
std::string spec_text(const TensorSpec& spec) {
  const auto& d = spec.shape.dimensions();
  std::string text =
      fmt::format("{}x{}x{}x{} {} {} {}", d[0], d[1], d[2], d[3], name_of(spec.dtype),
                  spec.layout == Layout::tile ? "tile" : "row_major",
                  spec.storage == Storage::dram ? "dram" : "l1");
  if (const auto& shards = spec.sharding) {
    text += fmt::format(" {}:{}x{}:{}x{}{}", name_of(shards->layout), shards->grid.columns,
                        shards->grid.rows, shards->rows, shards->columns,
                        shards->column_major ? ":column_major" : "");
  }
  return text;
}

/// Reads a workload and says in a user's words what is wrong with it.
class WorkloadReader {
 public:
  WorkloadReader(const WorkloadJson& root, std::string name)
      : root_(root), name_(std::move(name)) {}

  Workload read() {
    if (!root_.is_object() || root_.value("schema", WorkloadJson()) != kSchema) {
      refuse("schema", root_.is_object() ? root_.value("schema", WorkloadJson()).dump() : "none",
             fmt::format("\"{}\"", kSchema));
    }
    workload_.source = text(root_, "source");
    workload_.eth_dispatch = text(root_, "dispatch") == "eth";
    workload_.queues = static_cast<int>(number(member(root_, "queues"), "queues", 2));
    if (workload_.queues < 1) refuse("queues", "0", "1 or 2");
    read_host();
    read_tensors();
    read_ops();
    read_calls();
    for (const WorkloadJson& name : list("names")) workload_.names.push_back(word(name, "names"));
    read_sub_devices();
    read_commands();
    return std::move(workload_);
  }

 private:
  [[noreturn]] void refuse(std::string_view where, std::string value, std::string accepted) const {
    throw Error({.attempted = fmt::format("read workload '{}'", name_),
                 .value = fmt::format("{} is {}", where, value.substr(0, 80)),
                 .accepted = std::move(accepted),
                 .hint = "docs/workload_format.md"});
  }
  const WorkloadJson& member(const WorkloadJson& of, const char* key) const {
    if (!of.is_object() || !of.contains(key)) refuse(key, "missing", "");
    return of[key];
  }
  const WorkloadJson& list(const char* key) const {
    const WorkloadJson& found = member(root_, key);
    if (!found.is_array()) refuse(key, found.type_name(), "a list");
    return found;
  }
  std::string word(const WorkloadJson& value, std::string_view where) const {
    if (!value.is_string()) refuse(where, value.dump(), "a text");
    return value.get<std::string>();
  }
  std::string text(const WorkloadJson& of, const char* key) const {
    return word(member(of, key), key);
  }
  std::uint32_t number(const WorkloadJson& value, std::string_view where,
                       std::uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      refuse(where, value.dump(), fmt::format("a whole number from 0 to {}", most));
    }
    return static_cast<std::uint32_t>(value.get<std::uint64_t>());
  }
  /// Returns the number of one of `count` things.
  std::uint32_t index(const WorkloadJson& value, std::string_view where, std::size_t count) const {
    if (count == 0) refuse(where, value.dump(), "nothing: there are none");
    return number(value, where, count - 1);
  }

  Shape shape(std::string_view text) const {
    std::vector<std::int64_t> d;
    for (const std::string& part : split(text, 'x')) {
      d.push_back(parse_integer(part).value_or(0));
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    std::int64_t elements = 1;
    for (const std::int64_t each : d) {
      if (each < 1 || each > kMost / elements) refuse("a shape", std::string(text), "1x1x32x32");
      elements *= each;
    }
    if (d.empty() || d.size() > 4) refuse("a shape", std::string(text), "one to four dimensions");
    d.insert(d.begin(), 4 - d.size(), 1);
    return {d[0], d[1], d[2], d[3]};
  }
  TensorSpec spec(const std::string& text) const {
    const std::vector<std::string> parts = split(text, ' ');
    const bool fits = (parts.size() == 4 || parts.size() == 5) &&
                      (parts[2] == "tile" || parts[2] == "row_major") &&
                      (parts[3] == "dram" || parts[3] == "l1");
    if (!fits) refuse("a spec", "'" + text + "'", "\"1x1x32x32 bfloat16 tile dram\"");
    TensorSpec spec{.shape = shape(parts[0]),
                    .dtype = parse_data_type(parts[1]),
                    .layout = parts[2] == "tile" ? Layout::tile : Layout::row_major,
                    .storage = parts[3] == "dram" ? Storage::dram : Storage::l1};
    if (parts.size() == 5) spec.sharding = sharding(parts[4]);
    require_legal_shards(spec);
    return spec;
  }
  /// Reads two whole numbers, "8x4".
  std::pair<std::int64_t, std::int64_t> pair(const std::string& text, std::int64_t most) const {
    const std::vector<std::string> parts = split(text, 'x');
    const auto side = [&](std::size_t i) {
      const auto value = i < parts.size() ? parse_integer(parts[i]) : std::nullopt;
      if (parts.size() != 2 || !value || *value < 1 || *value > most) {
        refuse("shards", "'" + text + "'", fmt::format("two numbers from 1 to {}, \"8x4\"", most));
      }
      return *value;
    };
    return {side(0), side(1)};
  }
  Sharding sharding(const std::string& text) const {
    const std::vector<std::string> parts = split(text, ':');
    constexpr std::array kLayouts{ShardLayout::height, ShardLayout::width, ShardLayout::block};
    const auto layout = std::ranges::find_if(
        kLayouts, [&](ShardLayout one) { return !parts.empty() && name_of(one) == parts[0]; });
    const bool fits = layout != kLayouts.end() &&
                      (parts.size() == 3 || (parts.size() == 4 && parts[3] == "column_major"));
    if (!fits) refuse("shards", "'" + text + "'", "\"height:8x4:32x512\"");
    constexpr std::int64_t kMostCores = 64;
    constexpr std::int64_t kMostRows = std::int64_t{1} << 32;
    const auto [columns, rows] = pair(parts[1], kMostCores);
    const auto [high, wide] = pair(parts[2], kMostRows);
    return {.layout = *layout,
            .grid = {static_cast<int>(columns), static_cast<int>(rows)},
            .rows = high,
            .columns = wide,
            .column_major = parts.size() == 4};
  }
  /// Reads the host's times in picoseconds. A file without them has no such calls either.
  void read_host() {
    if (!root_.contains("host")) return;
    const WorkloadJson& host = root_["host"];
    const auto time = [&](const char* key) {
      const WorkloadJson& value = member(host, key);
      constexpr std::int64_t kMost = std::int64_t{1} << 55;  // ten hours
      if (!value.is_number_unsigned() || value > kMost) refuse(key, value.dump(), "picoseconds");
      return SimTime::picoseconds(value.get<std::int64_t>());
    };
    workload_.host = {.ttnn_call = time("ttnn_call"),
                      .program_miss = time("program_miss"),
                      .kernel_compile = time("kernel_compile")};
  }
  void read_tensors() {
    std::vector<TensorSpec> specs;
    for (const WorkloadJson& one : list("specs")) specs.push_back(spec(word(one, "specs")));
    for (const WorkloadJson& one : list("tensors")) {
      if (!one.is_array() || one.empty() || one.size() > 2) {
        refuse("tensors", one.dump(), "[spec] or [spec, tensor that it is a view of]");
      }
      TensorLine line{.spec = specs.at(index(one[0], "tensors", specs.size())), .view_of = {}};
      if (one.size() == 2) line.view_of = index(one[1], "tensors", workload_.tensors.size());
      if (line.view_of && workload_.tensors[*line.view_of].view_of) {
        refuse("tensors", one.dump(), "a view of a tensor that is no view");
      }
      workload_.tensors.push_back(line);
    }
  }
  void read_ops() {
    for (const WorkloadJson& one : list("ops")) {
      OpLine op{.name = text(one, "name"), .kernel = text(one, "kernel"), .attributes = ""};
      if (one.contains("attributes")) op.attributes = one["attributes"].dump();
      op.by_analogy = one.value("by_analogy", WorkloadJson(false)) == true;
      static_cast<void>(parse_attributes(op.kernel, op.attributes));
      workload_.ops.push_back(std::move(op));
    }
  }
  std::vector<TensorNumber> tensor_list(const WorkloadJson& from) const {
    if (!from.is_array()) refuse("calls", from.dump(), "a list of tensors");
    std::vector<TensorNumber> numbers;
    for (const WorkloadJson& one : from) {
      numbers.push_back(index(one, "calls", workload_.tensors.size()));
    }
    return numbers;
  }
  void read_calls() {
    for (const WorkloadJson& one : list("calls")) {
      if (!one.is_array() || one.size() < 3 || one.size() > 5) {
        refuse("calls", one.dump(), "[op, [inputs], [outputs], queue, sub-device]");
      }
      CallLine call{.op = index(one[0], "calls", workload_.ops.size()),
                    .inputs = tensor_list(one[1]),
                    .outputs = tensor_list(one[2])};
      if (one.size() > 3) call.queue = static_cast<std::uint8_t>(number(one[3], "calls", 1));
      if (one.size() > 4) call.sub_device = static_cast<std::uint8_t>(number(one[4], "calls", 63));
      workload_.calls.push_back(std::move(call));
    }
  }
  void read_sub_devices() {
    for (const WorkloadJson& one : list("sub_devices")) {
      if (!one.is_array()) refuse("sub_devices", one.dump(), "a list of [x, y, x, y]");
      auto& ranges = workload_.sub_devices.emplace_back();
      for (const WorkloadJson& range : one) {
        if (!range.is_array() || range.size() != 4) {
          refuse("sub_devices", range.dump(), "[first column, first row, last column, last row]");
        }
        const auto at = [&](std::size_t i) {
          return static_cast<int>(number(range[i], "sub_devices", 63));
        };
        ranges.push_back({at(0), at(1), at(2), at(3)});
      }
    }
  }
  /// Returns how many things a step's number can name.
  std::size_t count_for(Step step) const {
    switch (step) {
      case Step::make:
      case Step::release:
      case Step::write:
      case Step::read:
        return workload_.tensors.size();
      case Step::call:
        return workload_.calls.size();
      case Step::begin_region:
      case Step::signpost:
        return workload_.names.size();
      case Step::sub_devices:
        return workload_.sub_devices.size();
      default:
        return std::size_t{1} << 30;
    }
  }
  void read_commands() {
    std::map<std::string, Step, std::less<>> steps;
    for (std::size_t i = 0; i < kSteps; ++i) steps[kStepNames[i]] = static_cast<Step>(i);
    for (const WorkloadJson& one : list("commands")) {
      const bool fits = one.is_array() && !one.empty() && one.size() <= 3 && one[0].is_string() &&
                        steps.contains(one[0].get<std::string>());
      if (!fits) refuse("commands", one.dump(), "[step, number, queue]");
      Command command{.step = steps[one[0].get<std::string>()]};
      if (one.size() > 1) command.what = number(one[1], "commands", 0x3FFFFFFF);
      if (command.what >= count_for(command.step)) {
        refuse("commands", one.dump(), fmt::format("a number below {}", count_for(command.step)));
      }
      if (one.size() > 2) command.queue = static_cast<std::uint8_t>(number(one[2], "commands", 1));
      workload_.commands.push_back(command);
    }
  }

  const WorkloadJson& root_;
  std::string name_;
  Workload workload_;
};

/// Writes a list, one item a line.
template <class Items, class Write>
std::string lines(const char* key, const Items& items, const Write& write) {
  std::string text = fmt::format(",\n\"{}\": [", key);
  bool first = true;
  for (const auto& item : items) {
    text += first ? "\n" : ",\n";
    first = false;
    text += write(item);
  }
  return text + "]";
}

std::string quoted(const std::string& text) {
  return WorkloadJson(text).dump(-1, ' ', false, WorkloadJson::error_handler_t::replace);
}

std::string call_text(const CallLine& call) {
  std::string text = fmt::format("[{},[{}],[{}]", call.op, fmt::join(call.inputs, ","),
                                 fmt::join(call.outputs, ","));
  if (call.queue != 0 || call.sub_device != 0) text += fmt::format(",{}", call.queue);
  if (call.sub_device != 0) text += fmt::format(",{}", call.sub_device);
  return text + "]";
}

std::string op_text(const OpLine& op) {
  std::string text = fmt::format("{{\"name\":{},\"kernel\":{}", quoted(op.name), quoted(op.kernel));
  if (!op.attributes.empty() && op.attributes != "{}") text += ",\"attributes\":" + op.attributes;
  if (op.by_analogy) text += ",\"by_analogy\":true";
  return text + "}";
}

std::string command_text(const Command& command) {
  const char* const name = kStepNames.at(static_cast<std::size_t>(command.step));
  if (command.queue != 0) return fmt::format("[\"{}\",{},{}]", name, command.what, command.queue);
  return fmt::format("[\"{}\",{}]", name, command.what);
}

}  // namespace

std::string to_json(const Workload& workload) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> specs;
  std::vector<std::size_t> spec_of;
  for (const TensorLine& tensor : workload.tensors) {
    std::string text = spec_text(tensor.spec);
    const auto [place, is_new] = numbers.emplace(std::move(text), specs.size());
    if (is_new) specs.push_back(place->first);
    spec_of.push_back(place->second);
  }
  std::string text = fmt::format(
      "{{\"schema\": \"{}\",\n\"source\": {},\n\"dispatch\": \"{}\",\n\"queues\": {}", kSchema,
      quoted(workload.source), workload.eth_dispatch ? "eth" : "worker", workload.queues);
  text += fmt::format(
      ",\n\"host\": {{\"ttnn_call\": {}, \"program_miss\": {}, \"kernel_compile\": {}}}",
      workload.host.ttnn_call.ps(), workload.host.program_miss.ps(),
      workload.host.kernel_compile.ps());
  text += lines("specs", specs, quoted);
  std::size_t next = 0;
  text += lines("tensors", workload.tensors, [&](const TensorLine& tensor) {
    const std::size_t spec = spec_of[next++];
    return tensor.view_of ? fmt::format("[{},{}]", spec, *tensor.view_of)
                          : fmt::format("[{}]", spec);
  });
  text += lines("ops", workload.ops, op_text);
  text += lines("calls", workload.calls, call_text);
  text += lines("names", workload.names, quoted);
  text += lines("sub_devices", workload.sub_devices, [](const std::vector<CoreRange>& ranges) {
    std::vector<std::string> parts;
    for (const CoreRange& r : ranges) {
      parts.push_back(
          fmt::format("[{},{},{},{}]", r.first_column, r.first_row, r.last_column, r.last_row));
    }
    return fmt::format("[{}]", join(parts, ","));
  });
  text += lines("commands", workload.commands, command_text);
  return text + "}\n";
}

Workload parse_workload(const std::string& text, const std::string& name) {
  require_json_depth(text, fmt::format("read workload '{}'", name));
  WorkloadJson root;
  try {
    root = WorkloadJson::parse(text);
  } catch (const WorkloadJson::exception& failure) {
    throw Error({.attempted = fmt::format("read workload '{}'", name),
                 .value = json_failure(failure.what()),
                 .accepted = fmt::format("JSON of the schema {}", kSchema),
                 .hint = "run_experiment python SCRIPT --save-workload FILE"});
  }
  if (is_op_list(root)) return workload_of_op_list(root, name);
  return WorkloadReader(root, name).read();
}

Workload read_workload(const std::filesystem::path& path) {
  return parse_workload(read_file(path), path.string());
}

}  // namespace howard::workload
