// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/op_list_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/workload/launch.h"

namespace howard::workload {
namespace {

using OpJson = nlohmann::json;

/// More steps than this are a mistake, or a way to fill the memory.
constexpr std::size_t kMostCommands = 1'000'000;

/// These words of a step are not attributes of its kernel.
const std::set<std::string, std::less<>> kStepWords{"op",    "in",         "out",   "name",
                                                    "queue", "sub_device", "python"};

class OpListReader {
 public:
  OpListReader(const OpJson& root, std::string name) : root_(root), name_(std::move(name)) {}

  Workload read() {
    require_words(root_, {"schema", "dispatch", "queues", "sub_devices", "tensors", "steps"},
                  "the list");
    made_.source = name_;
    made_.eth_dispatch = root_.value("dispatch", OpJson("worker")) == "eth";
    made_.queues = static_cast<int>(whole(root_.value("queues", OpJson(1)), "queues", 1, 2));
    read_sub_devices();
    read_tensors();
    if (!root_.contains("steps")) refuse("steps", "missing", "a list");
    read_steps(root_["steps"], "steps");
    for (int i = 0; i < made_.queues; ++i) add(Step::finish, 0, static_cast<std::uint8_t>(i));
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(std::string_view where, const std::string& value,
                           std::string accepted) const {
    throw Error({.attempted = fmt::format("read the ops of '{}'", name_),
                 .value = fmt::format("{} is {}", where, value.substr(0, 80)),
                 .accepted = std::move(accepted),
                 .hint = "docs/workload_format.md"});
  }
  void require_words(const OpJson& object, const std::vector<std::string>& known,
                     std::string_view where) const {
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      refuse(where, fmt::format("with '{}'", key), closest(key, known).value_or(join(known, ", ")));
    }
  }
  std::int64_t whole(const OpJson& value, std::string_view where, std::int64_t least,
                     std::int64_t most) const {
    const bool fits = value.is_number_integer() && value >= least && value <= most;
    if (!fits) refuse(where, value.dump(), fmt::format("a whole number, {} to {}", least, most));
    return value.get<std::int64_t>();
  }
  void add(Step step, std::uint32_t what, std::uint8_t queue = 0) {
    if (made_.commands.size() >= kMostCommands) {
      refuse("steps", "too long", fmt::format("{} commands, repeats included", kMostCommands));
    }
    made_.commands.push_back({step, queue, what});
  }

  void read_sub_devices() {
    if (!root_.contains("sub_devices")) return;
    auto& list = made_.sub_devices.emplace_back();
    for (const OpJson& range : root_["sub_devices"]) {
      if (!range.is_array() || range.size() != 4) {
        refuse("sub_devices", range.dump(),
               "[first column, first row, last column, last row] each");
      }
      const auto at = [&](std::size_t i) {
        return static_cast<int>(whole(range[i], "sub_devices", 0, 63));
      };
      list.push_back({at(0), at(1), at(2), at(3)});
    }
    add(Step::sub_devices, 0);
  }

  /// Reads "1024x512", followed in any order by a data type, a layout, l1 or empty.
  void read_tensors() {
    if (!root_.contains("tensors") || !root_["tensors"].is_object()) {
      refuse("tensors", "missing", R"({"x": "1024x512 bfloat16"})");
    }
    for (const auto& [name, value] : root_["tensors"].items()) {
      if (!value.is_string()) refuse("tensor " + name, value.dump(), "\"1024x512 bfloat16\"");
      bool written = true;
      const TensorSpec spec = spec_of(name, value.get<std::string>(), written);
      tensors_[name] = static_cast<TensorNumber>(made_.tensors.size());
      made_.tensors.push_back({.spec = spec, .view_of = {}});
      add(Step::make, tensors_[name]);
      if (written) add(Step::write, tensors_[name]);
    }
  }
  TensorSpec spec_of(const std::string& name, const std::string& text, bool& written) const {
    const std::vector<std::string> words = split(text, ' ');
    std::vector<std::int64_t> d;
    std::int64_t elements = 1;
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    for (const std::string& part : split(words.front(), 'x')) {
      d.push_back(parse_integer(part).value_or(0));
      if (d.back() < 1 || d.back() > kMost / elements) refuse("tensor " + name, text, "1024x512");
      elements *= d.back();
    }
    if (d.size() > 4) refuse("tensor " + name, text, "one to four dimensions");
    d.insert(d.begin(), 4 - d.size(), 1);
    TensorSpec spec{.shape = {d[0], d[1], d[2], d[3]}};
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "row_major") {
        spec.layout = Layout::row_major;
      } else if (words[i] == "l1") {
        spec.storage = Storage::l1;
      } else if (words[i] == "empty") {
        written = false;
      } else if (words[i] != "tile" && words[i] != "dram") {
        spec.dtype = parse_data_type(words[i]);
      }
    }
    return spec;
  }

  void read_steps(const OpJson& steps, const std::string& where) {
    if (!steps.is_array()) refuse(where, steps.type_name(), "a list");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      read_step(steps[i], fmt::format("{}[{}]", where, i));
    }
  }
  void read_step(const OpJson& step, const std::string& where) {
    if (!step.is_object()) refuse(where, step.dump(), R"({"op": "relu", "in": ["x"], "out": "y"})");
    if (step.contains("steps")) return read_group(step, where);
    if (step.contains("finish")) return add(Step::finish, 0, queue_of(step["finish"], where));
    for (const auto& [word, what] : {std::pair{"write", Step::write}, {"read", Step::read}}) {
      if (step.contains(word)) return add(what, tensor(step[word], where), queue(step, where));
    }
    for (const auto& [word, what] :
         {std::pair{"record", Step::record_event}, {"wait", Step::wait_for_event}}) {
      if (step.contains(word)) return add(what, event(step[word], where), queue(step, where));
    }
    read_call(step, where);
  }
  /// Reads steps that are repeated, have a name, or run as a trace.
  void read_group(const OpJson& step, const std::string& where) {
    require_words(step, {"repeat", "steps", "region", "trace"}, where);
    const std::int64_t times = whole(step.value("repeat", OpJson(1)), where, 1, 1'000'000);
    std::optional<std::uint32_t> name;
    if (step.contains("region")) name = name_of_region(step["region"], where);
    if (step.value("trace", OpJson(false)) == true) {
      const std::uint32_t trace = traces_++;
      add(Step::begin_trace, trace);
      read_steps(step["steps"], where + ".steps");
      add(Step::end_trace, trace);
      for (std::int64_t i = 0; i < times; ++i) {
        if (name) add(Step::begin_region, *name);
        add(Step::execute_trace, trace);
        if (name) add(Step::end_region, *name);
      }
      return;
    }
    for (std::int64_t i = 0; i < times; ++i) {
      if (name) add(Step::begin_region, *name);
      read_steps(step["steps"], where + ".steps");
      if (name) add(Step::end_region, *name);
    }
  }
  std::uint32_t name_of_region(const OpJson& value, const std::string& where) {
    if (!value.is_string()) refuse(where, value.dump(), "a region's name");
    made_.names.push_back(value.get<std::string>());
    return static_cast<std::uint32_t>(made_.names.size() - 1);
  }

  void read_call(const OpJson& step, const std::string& where) {
    if (!step.contains("op") || !step["op"].is_string()) {
      refuse(where, step.dump(), "an op, steps, finish, write, read, record or wait");
    }
    CallLine call{.op = op(step),
                  .inputs = tensors(step.value("in", OpJson::array()), where),
                  .outputs = tensors(step.value("out", OpJson::array()), where),
                  .queue = queue(step, where)};
    call.sub_device =
        static_cast<std::uint8_t>(whole(step.value("sub_device", OpJson(0)), where, 0, 63));
    made_.calls.push_back(std::move(call));
    if (step.value("python", OpJson(false)) == true) add(Step::python, 1);
    add(Step::call, static_cast<std::uint32_t>(made_.calls.size() - 1));
  }
  /// Returns the kernel with the attributes that the step gives, and keeps it only once.
  std::uint32_t op(const OpJson& step) {
    OpJson attributes = OpJson::object();
    for (const auto& [key, value] : step.items()) {
      if (!kStepWords.contains(key)) attributes[key] = value;
    }
    const std::string kernel = step["op"].get<std::string>();
    const OpJson named = step.value("name", OpJson(kernel));
    const std::string name = named.is_string() ? named.get<std::string>() : kernel;
    const std::string key = name + " " + kernel + attributes.dump();
    const auto [known, is_new] = ops_.emplace(key, static_cast<std::uint32_t>(made_.ops.size()));
    if (is_new) {
      static_cast<void>(parse_attributes(kernel, attributes.dump()));
      made_.ops.push_back({.name = name, .kernel = kernel, .attributes = attributes.dump()});
    }
    return known->second;
  }

  std::uint8_t queue_of(const OpJson& value, const std::string& where) const {
    return static_cast<std::uint8_t>(value.is_boolean() ? 0
                                                        : whole(value, where, 0, made_.queues - 1));
  }
  std::uint8_t queue(const OpJson& step, const std::string& where) const {
    return queue_of(step.value("queue", OpJson(0)), where);
  }
  std::uint32_t event(const OpJson& value, const std::string& where) const {
    return static_cast<std::uint32_t>(whole(value, where, 0, 1'000'000));
  }
  TensorNumber tensor(const OpJson& value, const std::string& where) const {
    const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, number] : tensors_) names.push_back(known);
    refuse(where, fmt::format("of tensor '{}', which is not among the tensors", name),
           closest(name, names).value_or(join(names, ", ")));
  }
  std::vector<TensorNumber> tensors(const OpJson& value, const std::string& where) const {
    std::vector<TensorNumber> numbers;
    if (!value.is_array()) return {tensor(value, where)};
    for (const OpJson& one : value) numbers.push_back(tensor(one, where));
    return numbers;
  }

  const OpJson& root_;
  std::string name_;
  Workload made_;
  std::map<std::string, TensorNumber, std::less<>> tensors_;
  std::map<std::string, std::uint32_t, std::less<>> ops_;
  std::uint32_t traces_ = 0;
};

}  // namespace

bool is_op_list(const OpJson& root) {
  return root.is_object() && root.contains("schema") && root["schema"] == kOpListSchema;
}

Workload workload_of_op_list(const OpJson& root, const std::string& name) {
  return OpListReader(root, name).read();
}

}  // namespace howard::workload
