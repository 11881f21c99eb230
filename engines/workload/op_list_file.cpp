// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/op_list_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "engines/program/fields.h"
#include "engines/program/sharding.h"
#include "engines/program/spec_text.h"
#include "engines/workload/launch.h"

namespace howard::workload {
namespace {

/// More steps than this are a mistake, or a way to fill the memory.
constexpr std::size_t kMostCommands = 1'000'000;

/// These words of a step are not attributes of its kernel.
const std::set<std::string, std::less<>> kStepWords{"op",    "in",         "out",   "name",
                                                    "queue", "sub_device", "python"};

class OpListReader {
 public:
  explicit OpListReader(std::string name) { made_.source = std::move(name); }

  Workload read(const JsonNode& root) {
    require_words(root, {"schema", "dispatch", "queues", "sub_devices", "tensors", "steps"});
    made_.eth_dispatch = root.has("dispatch") && is_eth(root.member("dispatch"));
    if (root.has("queues")) made_.queues = static_cast<int>(root.member("queues").integer(1, 2));
    if (root.has("sub_devices")) {
      made_.sub_devices.push_back(read_core_ranges(root.member("sub_devices")));
      add(Step::sub_devices, 0, root);
    }
    read_tensors(root.member("tensors"));
    if (root.member("steps").items().empty()) root.member("steps").fail("one step at least");
    read_steps(root.member("steps"));
    for (int i = 0; i < made_.queues; ++i) {
      add(Step::finish, 0, root, static_cast<std::uint8_t>(i));
    }
    return std::move(made_);
  }

 private:
  static void require_words(const JsonNode& object, const std::vector<std::string>& known) {
    for (const auto& [key, value] : object.members()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      object.fail(
          fmt::format("no '{}' but {}", key, closest(key, known).value_or(join(known, ", "))));
    }
  }
  static bool is_true(const JsonNode& step, const char* word) {
    return step.has(word) && step.member(word).boolean();
  }
  void add(Step step, std::uint32_t what, const JsonNode& from, std::uint8_t queue = 0) {
    if (made_.commands.size() >= kMostCommands) {
      from.fail(
          fmt::format("at most {} commands, repeats included: it is too long", kMostCommands));
    }
    made_.commands.push_back({step, queue, what});
  }

  /// The tensors are made in the order of their names.
  void read_tensors(const JsonNode& node) {
    const auto members = node.members();
    for (const auto& [name, value] : std::map(members.begin(), members.end())) {
      bool is_empty = false;
      const TensorSpec spec = read_spec(value, &is_empty);
      tensors_[name] = static_cast<TensorNumber>(made_.tensors.size());
      made_.tensors.push_back({.spec = spec, .view_of = {}});
      add(Step::make, tensors_[name], value);
      if (!is_empty) add(Step::write, tensors_[name], value);
    }
  }

  void read_steps(const JsonNode& steps) {
    for (const JsonNode& step : steps.items()) read_step(step);
  }
  void read_step(const JsonNode& step) {
    if (step.has("steps")) return read_group(step);
    if (step.has("finish")) return add(Step::finish, 0, step, queue_of(step.member("finish")));
    for (const auto& [word, what] : {std::pair{"write", Step::write}, {"read", Step::read}}) {
      if (step.has(word)) return add(what, tensor(step.member(word)), step, queue(step));
    }
    for (const auto& [word, what] :
         {std::pair{"record", Step::record_event}, {"wait", Step::wait_for_event}}) {
      if (!step.has(word)) continue;
      const std::int64_t event = step.member(word).integer(0, 1'000'000);
      return add(what, static_cast<std::uint32_t>(event), step, queue(step));
    }
    read_call(step);
  }
  /// Reads steps that are repeated, have a name, or run as a trace.
  void read_group(const JsonNode& step) {
    require_words(step, {"repeat", "steps", "region", "trace"});
    const std::int64_t times = step.has("repeat") ? step.member("repeat").integer(1, 1'000'000) : 1;
    std::optional<std::uint32_t> name;
    if (step.has("region")) {
      name = static_cast<std::uint32_t>(made_.names.size());
      made_.names.push_back(step.member("region").text());
    }
    const auto repeat = [&](const auto& part) {
      for (std::int64_t i = 0; i < times; ++i) {
        if (name) add(Step::begin_region, *name, step);
        part();
        if (name) add(Step::end_region, *name, step);
      }
    };
    if (!is_true(step, "trace")) return repeat([&] { read_steps(step.member("steps")); });
    const std::uint32_t trace = traces_++;
    add(Step::begin_trace, trace, step);
    read_steps(step.member("steps"));
    add(Step::end_trace, trace, step);
    repeat([&] { add(Step::execute_trace, trace, step); });
  }

  void read_call(const JsonNode& step) {
    if (!step.has("op")) step.fail("an op, steps, finish, write, read, record or wait");
    CallLine call{.op = op(step),
                  .inputs = tensors(step, "in"),
                  .outputs = tensors(step, "out"),
                  .queue = queue(step)};
    if (step.has("sub_device")) {
      call.sub_device = static_cast<std::uint8_t>(step.member("sub_device").integer(0, 63));
    }
    made_.calls.push_back(std::move(call));
    if (is_true(step, "python")) add(Step::python, 1, step);
    add(Step::call, static_cast<std::uint32_t>(made_.calls.size() - 1), step);
  }
  /// Returns the kernel with the attributes that the step gives, and keeps it only once.
  std::uint32_t op(const JsonNode& step) {
    std::map<std::string, std::string> given;
    for (const auto& [key, value] : step.members()) {
      if (!kStepWords.contains(key)) given[key] = value.dump();
    }
    std::string attributes;
    for (const auto& [key, value] : given) {
      attributes += fmt::format("{}\"{}\":{}", attributes.empty() ? "" : ",", key, value);
    }
    attributes = "{" + attributes + "}";
    const std::string kernel = step.member("op").text();
    const std::string name = step.has("name") ? step.member("name").text() : kernel;
    const std::string key = name + " " + kernel + attributes;
    const auto [known, is_new] = ops_.emplace(key, static_cast<std::uint32_t>(made_.ops.size()));
    if (is_new) {
      static_cast<void>(parse_attributes(kernel, attributes));
      made_.ops.push_back({.name = name, .kernel = kernel, .attributes = attributes});
    }
    return known->second;
  }

  /// Reads a number; `true` stands for the first queue.
  std::uint8_t queue_of(const JsonNode& node) const {
    return node.is_flag() ? 0 : static_cast<std::uint8_t>(node.integer(0, made_.queues - 1));
  }
  std::uint8_t queue(const JsonNode& step) const {
    return step.has("queue") ? queue_of(step.member("queue")) : 0;
  }
  TensorNumber tensor(const JsonNode& node) const {
    const auto found = tensors_.find(node.text());
    if (found != tensors_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, number] : tensors_) names.push_back(known);
    node.fail("one of the tensors: " + closest(node.text(), names).value_or(join(names, ", ")));
  }
  std::vector<TensorNumber> tensors(const JsonNode& step, const char* word) const {
    if (!step.has(word)) return {};
    const JsonNode node = step.member(word);
    if (!node.is_array()) return {tensor(node)};
    std::vector<TensorNumber> numbers;
    for (const JsonNode& one : node.items()) numbers.push_back(tensor(one));
    return numbers;
  }

  Workload made_;
  std::map<std::string, TensorNumber, std::less<>> tensors_;
  std::map<std::string, std::uint32_t, std::less<>> ops_;
  std::uint32_t traces_ = 0;
};

}  // namespace

Workload workload_of_op_list(const JsonNode& root, const std::string& name) {
  return OpListReader(name).read(root);
}

}  // namespace howard::workload
