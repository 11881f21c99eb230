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

#include "base/file.h"
#include "base/json_dump.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/program/fields.h"
#include "engines/program/sharding.h"
#include "engines/program/spec_text.h"
#include "engines/workload/launch.h"
#include "engines/workload/op_list_file.h"
#include "engines/workload/repeats.h"

namespace howard::workload {
namespace {

using WorkloadJson = nlohmann::json;

/// A file of this schema has no repeats, and is otherwise the same.
constexpr const char* kOlderSchema = "howard.workload/1";

/// The names are in the order of Step.
constexpr std::array<std::string_view, 20> kStepNames{
    "make",          "release",       "write",  "read",         "call",
    "finish",        "record",        "wait",   "begin_trace",  "end_trace",
    "execute_trace", "release_trace", "python", "begin_region", "end_region",
    "signpost",      "sub_devices",   "ttnn",   "miss",         "compile"};
static_assert(kStepNames.size() == static_cast<std::size_t>(Step::compile) + 1);

/// Returns "2x64x64 bfloat16 tile dram", followed for a sharded tensor by "l1 height:8x4:32x512".
std::string spec_text(const TensorSpec& spec) {
  const auto& d = spec.shape.dimensions();
  std::string text =
      fmt::format("{}x{}x{}x{} {} {} {}", d[0], d[1], d[2], d[3], name_of(spec.dtype),
                  spec.layout == Layout::tile ? "tile" : "row_major",
                  spec.storage == Storage::dram ? "dram" : "l1");
  if (spec.sharding) text += fmt::format(" {}", short_text(*spec.sharding));
  return text;
}

/// Reads the values of a workload. Errors name their places.
class WorkloadReader {
 public:
  Workload read(const JsonNode& root) {
    workload_.source = root.member("source").text();
    workload_.eth_dispatch = is_eth(root.member("dispatch"));
    workload_.queues = static_cast<int>(root.member("queues").integer(1, 2));
    if (root.has("host")) root.member("host").read(workload_.host, kHostFields);
    read_tensors(root);
    root.member("ops").read(workload_.ops, read_op);
    rows_.each(root.member("calls"), [this](const JsonNode& one) { read_call(one); });
    root.member("names").read(workload_.names);
    root.member("sub_devices").read(workload_.sub_devices, read_core_ranges);
    rows_.each(root.member("commands"), [this](const JsonNode& one) { read_command(one); });
    return std::move(workload_);
  }

 private:
  template <class Whole>
  Whole whole(const JsonNode& node, std::int64_t most) const {
    return static_cast<Whole>(rows_.number(node, most));
  }
  /// Returns the number of one of `count` things.
  std::uint32_t index(const JsonNode& node, std::size_t count) const {
    if (count == 0) node.fail("nothing: there are none");
    return whole<std::uint32_t>(node, static_cast<std::int64_t>(count) - 1);
  }
  static SimTime read_picoseconds(const JsonNode& node) {
    constexpr std::int64_t kMost = std::int64_t{1} << 55;  // ten hours
    return SimTime::picoseconds(node.integer(0, kMost));
  }
  static constexpr std::tuple kHostFields{
      json_field("ttnn_call", &HostTimes::ttnn_call, read_picoseconds),
      json_field("program_miss", &HostTimes::program_miss, read_picoseconds),
      json_field("kernel_compile", &HostTimes::kernel_compile, read_picoseconds),
  };

  void read_tensors(const JsonNode& root) {
    std::vector<TensorSpec> specs;
    root.member("specs").read(specs, [](const JsonNode& spec) { return read_spec(spec); });
    rows_.each(root.member("tensors"), [&](const JsonNode& one) {
      const std::vector<JsonNode> parts =
          one.items(1, 2, "[spec] or [spec, tensor that it is a view of]");
      TensorLine line{.spec = specs.at(index(parts[0], specs.size())), .view_of = {}};
      if (parts.size() == 2) line.view_of = index(parts[1], workload_.tensors.size());
      if (line.view_of && workload_.tensors[*line.view_of].view_of) {
        one.fail("a view of a tensor that is no view");
      }
      workload_.tensors.push_back(line);
    });
  }
  static OpLine read_op(const JsonNode& node) {
    OpLine op{.name = node.member("name").text(),
              .kernel = node.member("kernel").text(),
              .attributes = ""};
    if (node.has("attributes")) op.attributes = node.member("attributes").dump();
    if (node.has("by_analogy")) op.by_analogy = node.member("by_analogy").boolean();
    static_cast<void>(parse_attributes(op.kernel, op.attributes));
    return op;
  }
  std::vector<TensorNumber> tensor_list(const JsonNode& node) const {
    std::vector<TensorNumber> numbers;
    for (const JsonNode& one : node.items()) {
      numbers.push_back(index(one, workload_.tensors.size()));
    }
    return numbers;
  }
  void read_call(const JsonNode& node) {
    const std::vector<JsonNode> parts =
        node.items(3, 5, "[op, [inputs], [outputs], queue, sub-device]");
    CallLine call{.op = index(parts[0], workload_.ops.size()),
                  .inputs = tensor_list(parts[1]),
                  .outputs = tensor_list(parts[2])};
    if (parts.size() > 3) call.queue = whole<std::uint8_t>(parts[3], 1);
    if (parts.size() > 4) call.sub_device = whole<std::uint8_t>(parts[4], 63);
    workload_.calls.push_back(std::move(call));
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
  void read_command(const JsonNode& node) {
    const std::vector<JsonNode> parts = node.items(1, 3, "[step, number, queue]");
    const auto name = std::ranges::find(kStepNames, parts[0].text());
    if (name == kStepNames.end()) parts[0].fail("a step, such as \"call\"");
    Command command{.step = static_cast<Step>(name - kStepNames.begin())};
    if (parts.size() > 1) command.what = whole<std::uint32_t>(parts[1], 0x3FFFFFFF);
    if (command.what >= count_for(command.step)) {
      node.fail(fmt::format("a number below {}", count_for(command.step)));
    }
    if (parts.size() > 2) command.queue = whole<std::uint8_t>(parts[2], 1);
    workload_.commands.push_back(command);
  }

  Workload workload_;
  RowReader rows_;
};

template <class Items, class Write>
std::vector<std::string> texts_of(const Items& items, const Write& write) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const auto& item : items) texts.push_back(write(item));
  return texts;
}

/// Writes a list on one line.
template <class Items, class Write>
std::string line(const char* key, const Items& items, const Write& write) {
  return fmt::format(",\n\"{}\": [{}]", key, fmt::join(texts_of(items, write), ","));
}

/// Writes a list of rows of numbers.
template <class Items, class Write>
std::string rows(const char* key, const Items& items, const Write& write) {
  return fmt::format(",\n\"{}\": [{}]", key, rows_text(texts_of(items, write)));
}

std::string quoted(const std::string& text) { return json_dump(WorkloadJson(text)); }

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
  const std::string_view name = kStepNames.at(static_cast<std::size_t>(command.step));
  if (command.queue != 0) return fmt::format("[\"{}\",{},{}]", name, command.what, command.queue);
  return fmt::format("[\"{}\",{}]", name, command.what);
}

}  // namespace

Shape read_shape(std::string_view text, const JsonNode& node) {
  const auto shape = parse_shape(text);
  if (!shape) node.fail("a shape of one to four dimensions, 1x1x32x32");
  return *shape;
}

TensorSpec read_spec(const JsonNode& node, bool* is_empty) {
  const std::vector<std::string> words = split(node.text(), ' ');
  SpecWords spec(read_shape(words.front(), node));
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (is_empty != nullptr && words[i] == "empty") {
      *is_empty = true;
    } else if (const std::string_view accepted = spec.refuse(words[i]); !accepted.empty()) {
      node.fail(accepted);
    }
  }
  require_legal_shards(spec.spec());
  return spec.spec();
}

bool is_eth(const JsonNode& node) { return node.word({"worker", "eth"}) == 1; }

std::vector<CoreRange> read_core_ranges(const JsonNode& node) {
  std::vector<CoreRange> ranges;
  for (const JsonNode& range : node.items()) {
    const std::vector<JsonNode> ends =
        range.items(4, 4, "[first column, first row, last column, last row]");
    const auto at = [&](std::size_t i) { return static_cast<int>(ends[i].integer(0, 63)); };
    ranges.push_back({at(0), at(1), at(2), at(3)});
  }
  return ranges;
}

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
  text += line("specs", specs, quoted);
  std::size_t next = 0;
  text += rows("tensors", workload.tensors, [&](const TensorLine& tensor) {
    const std::size_t spec = spec_of[next++];
    return tensor.view_of ? fmt::format("[{},{}]", spec, *tensor.view_of)
                          : fmt::format("[{}]", spec);
  });
  text += line("ops", workload.ops, op_text);
  text += rows("calls", workload.calls, call_text);
  text += line("names", workload.names, quoted);
  text += line("sub_devices", workload.sub_devices, [](const std::vector<CoreRange>& ranges) {
    std::vector<std::string> parts;
    for (const CoreRange& r : ranges) {
      parts.push_back(
          fmt::format("[{},{},{},{}]", r.first_column, r.first_row, r.last_column, r.last_row));
    }
    return fmt::format("[{}]", join(parts, ","));
  });
  text += rows("commands", workload.commands, command_text);
  return text + "}\n";
}

Workload parse_workload(const std::string& text, const std::string& name) {
  const JsonDocument document(text, {.attempted = fmt::format("read workload '{}'", name),
                                     .accepted = fmt::format("JSON of the schema {}", kSchema),
                                     .hint = "docs/workload_format.md"});
  const JsonNode root = document.root();
  const bool is_list = root.member("schema").word({kSchema, kOlderSchema, kOpListSchema}) == 2;
  return is_list ? workload_of_op_list(root, name) : WorkloadReader().read(root);
}

Workload read_workload(const std::filesystem::path& path) {
  return parse_workload(read_file(path), path.string());
}

}  // namespace howard::workload
