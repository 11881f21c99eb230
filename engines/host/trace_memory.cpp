// SPDX-License-Identifier: Apache-2.0
#include "engines/host/trace_memory.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <variant>

namespace howard::host {
namespace {

/// Above all names that a device gives.
constexpr std::uint64_t kFirstName = std::uint64_t{1} << 62;

/// One value of a buffer: from the program that writes it to the last that reads it.
struct Value {
  BufferId buffer{};
  std::vector<Operand*> operands;  ///< The result first, then all that read it.
};

/// Of all results, in the order of the programs, and of those that are left behind.
class Values {
 public:
  explicit Values(std::vector<Program>& programs) {
    for (Program& program : programs) {
      for (Operand& input : program.inputs) {
        const auto made = current_.find(input.buffer);
        if (made == current_.end()) {
          states_.insert(input.buffer);
        } else {
          all_[made->second].operands.push_back(&input);
        }
      }
      for (Operand& output : program.outputs) {
        current_[output.buffer] = all_.size();
        all_.push_back({output.buffer, {&output}});
      }
    }
  }

  std::vector<Value>& all() { return all_; }
  bool is_left(std::size_t value) const {
    const BufferId buffer = all_[value].buffer;
    return current_.at(buffer) == value &&
           (states_.contains(buffer) || all_[value].operands.size() == 1);
  }
  bool is_state(BufferId buffer) const { return states_.contains(buffer); }

 private:
  std::vector<Value> all_;
  std::map<BufferId, std::size_t> current_;  ///< The last value of each buffer, in the end.
  std::set<BufferId> states_;                ///< Read before they are written.
};

/// Hands out buffers and takes them back.
class Pool {
 public:
  Pool(const std::vector<BufferId>& spare, const std::function<Bytes(BufferId)>& size_of,
       const std::function<BufferId(Bytes)>& allocate)
      : allocate_(allocate) {
    for (const BufferId buffer : spare) give_back(buffer, size_of(buffer));
  }

  void give_back(BufferId buffer, Bytes size) { free_.emplace(size, buffer); }

  /// The smallest that suffices, with its size.
  std::pair<BufferId, Bytes> take(Bytes size) {
    const auto found = free_.lower_bound(size);
    if (found == free_.end()) return {allocate_(size), size};
    const std::pair taken{found->second, found->first};
    free_.erase(found);
    return taken;
  }

 private:
  std::multimap<Bytes, BufferId> free_;
  const std::function<BufferId(Bytes)>& allocate_;
};

}  // namespace

RenamedTrace with_own_names(std::span<const Program> trace) {
  RenamedTrace result{{trace.begin(), trace.end()}, {}, {}};
  Values values(result.programs);
  std::set<BufferId> spare;
  std::set<BufferId> used;
  for (std::size_t i = 0; i < values.all().size(); ++i) {
    const Value& value = values.all()[i];
    if (values.is_left(i) || values.is_state(value.buffer)) used.insert(value.buffer);
    if (values.is_left(i)) continue;
    spare.insert(value.buffer);
    const BufferId name{kFirstName + i};
    result.intermediates.emplace(name, value.operands[0]->spec.host_bytes());
    for (Operand* operand : value.operands) operand->buffer = name;
  }
  std::ranges::set_difference(spare, used, std::back_inserter(result.spare));
  return result;
}

void widen_factors(RenamedTrace& trace) {
  struct Result {
    std::size_t maker = 0;
    std::vector<Operand*> readers;
    bool is_factor = false, can_be_wide = true;
  };
  std::map<BufferId, Result> results;
  for (std::size_t i = 0; i < trace.programs.size(); ++i) {
    Program& program = trace.programs[i];
    const bool product = std::holds_alternative<MatmulAttributes>(program.attributes);
    const bool reads_any = product || is_elementwise(program) ||
                           std::holds_alternative<ReduceAttributes>(program.attributes);
    for (std::size_t k = 0; k < program.inputs.size(); ++k) {
      const auto read = results.find(program.inputs[k].buffer);
      if (read == results.end()) continue;
      Result& result = read->second;
      result.readers.push_back(&program.inputs[k]);
      // A bias is of the type of a factor.
      if (product && k < 2) result.is_factor = true;
      if (!reads_any || (product && k == 2)) result.can_be_wide = false;
    }
    const Operand& output = program.outputs[0];
    const bool writes_any = product || is_elementwise(program);
    if (writes_any && output.spec.dtype == DataType::bfloat16 &&
        trace.intermediates.contains(output.buffer)) {
      results[output.buffer].maker = i;
    }
  }
  for (auto& [name, result] : results) {
    if (!result.is_factor || !result.can_be_wide) continue;
    trace.wide.insert(result.maker);
    trace.intermediates[name] = 2 * trace.intermediates[name];
    for (Operand* reader : result.readers) reader->spec.dtype = DataType::float32;
  }
}

std::map<BufferId, BufferId> buffers_for(const RenamedTrace& trace,
                                         std::span<const FusedPrograms> groups,
                                         const std::function<Bytes(BufferId)>& size_of,
                                         const std::function<BufferId(Bytes)>& allocate) {
  std::map<BufferId, std::size_t> last_readers;  // Groups.
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::size_t member : groups[i].members) {
      for (const Operand& input : trace.programs[member].inputs) last_readers[input.buffer] = i;
    }
  }
  std::map<BufferId, BufferId> places;
  Pool pool(trace.spare, size_of, allocate);
  std::multimap<std::size_t, std::pair<BufferId, Bytes>> in_use;  // By their last group.
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t k = 0; k < groups[i].members.size(); ++k) {
      const Program& program = trace.programs[groups[i].members[k]];
      // A product may be stored, wanted or not.
      const bool product = std::holds_alternative<MatmulAttributes>(program.attributes);
      if (!groups[i].kept[k] && !product) continue;
      for (const Operand& output : program.outputs) {
        const auto own = trace.intermediates.find(output.buffer);
        if (own == trace.intermediates.end()) continue;
        const auto taken = pool.take(own->second);
        places.emplace(output.buffer, taken.first);
        const auto reader = last_readers.find(output.buffer);
        in_use.emplace(reader == last_readers.end() ? i : reader->second, taken);
      }
    }
    const auto [first, end] = in_use.equal_range(i);
    for (auto use = first; use != end; ++use) pool.give_back(use->second.first, use->second.second);
    in_use.erase(first, end);
  }
  return places;
}

}  // namespace howard::host
