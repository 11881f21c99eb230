// SPDX-License-Identifier: Apache-2.0
#include "engines/host/trace_memory.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <variant>

namespace howard::host {
namespace {

/// This is above all numbers that a device hands out.
constexpr std::uint64_t kFirstName = std::uint64_t{1} << 62;

/// One value of a buffer, from the program that writes it to the last program that reads it.
struct Value {
  BufferId buffer{};
  std::vector<Operand*> operands;  ///< The result comes first, then all operands that read it.
};

/// All results, in the order of the programs; it also knows which ones are left behind.
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
  std::map<BufferId, std::size_t> current_;  ///< The last value of each buffer at the end.
  std::set<BufferId> states_;                ///< Buffers that are read before they are written.
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

  /// Takes the smallest buffer that is large enough, and returns it with its size. Among several it
  /// takes the one that was given back last, which may still be in a cache.
  std::pair<BufferId, Bytes> take(Bytes size) {
    const auto smallest = free_.lower_bound(size);
    if (smallest == free_.end()) return {allocate_(size), size};
    const auto found = std::prev(free_.upper_bound(smallest->first));
    const std::pair taken{found->second, found->first};
    free_.erase(found);
    return taken;
  }

 private:
  std::multimap<Bytes, BufferId> free_;
  const std::function<BufferId(Bytes)>& allocate_;
};

/// Returns whether the result of the group's member `writer` may be stored at `name`, which nobody
/// reads after the group. All its readers in the group must read it element by element, and none
/// may come after the writer.
bool can_replace(BufferId name, const Operand& result, std::size_t writer,
                 const FusedPrograms& group, const RenamedTrace& trace) {
  for (std::size_t k = 0; k < group.members.size(); ++k) {
    const Program& program = trace.programs[group.members[k]];
    for (const Operand& input : program.inputs) {
      if (input.buffer != name) continue;
      const bool one_by_one = std::holds_alternative<EltwiseAttributes>(program.attributes) ||
                              std::holds_alternative<GeluBackwardAttributes>(program.attributes);
      if (!one_by_one || k > writer) return false;
      if (input.spec.shape.elements() != result.spec.shape.elements()) return false;
    }
  }
  return true;
}

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
      // A bias has the type of a factor.
      if (product && k < 2) result.is_factor = true;
      if (!reads_any || (product && k == 2)) result.can_be_wide = false;
    }
    const Operand& output = program.outputs[0];
    const bool writes_any = is_product(program) || is_elementwise(program);
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
  std::map<BufferId, std::size_t> last_readers;  // the last group that reads each buffer
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::size_t member : groups[i].members) {
      for (const Operand& input : trace.programs[member].inputs) last_readers[input.buffer] = i;
    }
  }
  std::map<BufferId, BufferId> places;
  Pool pool(trace.spare, size_of, allocate);
  struct Use {
    BufferId name{};
    BufferId place{};
    Bytes size;
  };
  std::map<std::size_t, std::vector<Use>> in_use;  // by the last group that uses them
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t k = 0; k < groups[i].members.size(); ++k) {
      const Program& program = trace.programs[groups[i].members[k]];
      if (!groups[i].kept[k]) continue;
      for (const Operand& output : program.outputs) {
        const auto own = trace.intermediates.find(output.buffer);
        if (own == trace.intermediates.end()) continue;
        std::vector<Use>& ending = in_use[i];
        const auto replaced = std::ranges::find_if(ending, [&](const Use& use) {
          return own->second == trace.intermediates.at(use.name) &&
                 can_replace(use.name, output, k, groups[i], trace);
        });
        Use use{.name = output.buffer, .place = {}, .size = {}};
        if (replaced != ending.end()) {
          use.place = replaced->place;
          use.size = replaced->size;
          ending.erase(replaced);
        } else {
          std::tie(use.place, use.size) = pool.take(own->second);
        }
        places.emplace(use.name, use.place);
        const auto reader = last_readers.find(use.name);
        in_use[reader == last_readers.end() ? i : reader->second].push_back(use);
      }
    }
    for (const Use& use : in_use[i]) pool.give_back(use.place, use.size);
    in_use.erase(i);
  }
  return places;
}

}  // namespace howard::host
