// SPDX-License-Identifier: Apache-2.0
#include "engines/host/trace_fusion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "engines/host/kernels/elementwise/element_pass.h"
#include "engines/host/kernels/kernel.h"

namespace howard::host {
namespace {

/// Says which program makes each input of a program, and which programs read a result later.
class DataFlow {
 public:
  explicit DataFlow(std::span<const Program> trace)
      : makers_(trace.size()), readers_(trace.size()), lasts_(trace.size()) {
    std::map<BufferId, std::size_t> current;
    std::set<BufferId> states;
    for (std::size_t i = 0; i < trace.size(); ++i) {
      for (const Operand& input : trace[i].inputs) {
        const auto made = current.find(input.buffer);
        if (made == current.end()) {
          states.insert(input.buffer);
          makers_[i].emplace_back();
        } else {
          readers_[made->second].insert(i);
          makers_[i].emplace_back(made->second);
        }
      }
      for (const Operand& output : trace[i].outputs) current[output.buffer] = i;
    }
    for (const auto& [buffer, maker] : current) {
      if (states.contains(buffer) || readers_[maker].empty()) lasts_[maker] = true;
    }
  }

  /// Returns the program that makes input `input` of `reader`, or nothing if it was made before the
  /// trace.
  std::optional<std::size_t> maker(std::size_t reader, std::size_t input) const {
    return makers_[reader][input];
  }
  bool reads(std::size_t reader, std::size_t maker) const {
    return readers_[maker].contains(reader);
  }
  /// Returns whether only `members` read the result of `maker`, and the trace does not leave it
  /// behind.
  bool is_inner(std::size_t maker, std::span<const std::size_t> members) const {
    return !lasts_[maker] && std::ranges::all_of(readers_[maker], [&](std::size_t reader) {
      return std::ranges::find(members, reader) != members.end();
    });
  }

 private:
  /// The program that makes each input of each program.
  std::vector<std::vector<std::optional<std::size_t>>> makers_;
  std::vector<std::set<std::size_t>> readers_;
  std::vector<bool> lasts_;  ///< True if the trace leaves the result behind.
};

bool uses(const std::vector<Operand>& operands, BufferId buffer) {
  return std::ranges::find(operands, buffer, &Operand::buffer) != operands.end();
}

bool is_one_row(const Shape& shape, const Shape& of) {
  return shape.elements() == shape.columns() && shape.columns() == of.columns();
}

/// The list of groups while it is rewritten.
class Rewriter {
 public:
  explicit Rewriter(std::span<const Program> trace) : trace_(trace), flow_(trace) {
    for (std::size_t i = 0; i < trace.size(); ++i) groups_.push_back({i});
  }

  std::vector<FusedPrograms> run() {
    join_all(&Rewriter::is_chain);
    join_all(&Rewriter::is_product_before_chain);
    std::vector<FusedPrograms> fused;
    for (const Group& group : groups_) fused.push_back(described(group));
    return fused;
  }

 private:
  using Group = std::vector<std::size_t>;
  using Pattern = bool (Rewriter::*)(const Group& first, const Group& second) const;

  /// Returns whether the groups form a chain: elementwise programs over equally many elements in
  /// equally long rows, or the sum of all elements of one result, where the second group reads what
  /// the first one makes. The sum is complete only at the end, so none of the other members may
  /// read it.
  bool is_chain(const Group& first, const Group& second) const {
    if (second.size() != 1 || first.size() >= ElementPass::kMostSteps) return false;
    if (!is_elementwise(trace_[first[0]]) || !is_read(first, second)) return false;
    const Program& next = trace_[second[0]];
    const auto sum =
        std::ranges::find_if(first, [&](std::size_t i) { return is_whole_sum(trace_[i]); });
    if (is_whole_sum(next)) {
      const std::int64_t elements = next.inputs[0].spec.shape.elements();
      return sum == first.end() && elements > 1 && elements == shape_of(first).elements();
    }
    return is_elementwise(next) && same_extents(first, second) &&
           (sum == first.end() || !flow_.reads(second[0], *sum));
  }

  /// Returns whether the groups are a product, with what it already includes, and elementwise
  /// programs that read one of its results. They may not store to an operand of the product, parts
  /// of which are still to be computed.
  bool is_product_before_chain(const Group& first, const Group& second) const {
    const Program& product = trace_[first[0]];
    if (!is_product(product) || first.size() + second.size() > 1 + ElementPass::kMostSteps) {
      return false;
    }
    return all_elementwise(second) && same_extents(first, second) && is_read(first, second) &&
           std::ranges::none_of(second, [&](std::size_t member) {
             return is_kept(member, second) &&
                    uses(product.inputs, trace_[member].outputs[0].buffer);
           });
  }

  const Shape& shape_of(const Group& group) const { return trace_[group[0]].outputs[0].spec.shape; }
  bool all_elementwise(const Group& group) const {
    return std::ranges::all_of(group, [&](std::size_t i) { return is_elementwise(trace_[i]); });
  }
  bool same_extents(const Group& a, const Group& b) const {
    return shape_of(a).elements() == shape_of(b).elements() &&
           shape_of(a).columns() == shape_of(b).columns();
  }
  bool is_read(const Group& makers, const Group& readers) const {
    return std::ranges::any_of(readers, [&](std::size_t reader) {
      return std::ranges::any_of(makers,
                                 [&](std::size_t maker) { return flow_.reads(reader, maker); });
    });
  }

  static std::optional<std::size_t> place_in(const Group& group, std::size_t member) {
    const auto found = std::ranges::find(group, member);
    if (found == group.end()) return std::nullopt;
    return static_cast<std::size_t>(found - group.begin());
  }
  bool is_kept(std::size_t member, const Group& group) const {
    return !flow_.is_inner(member, group);
  }

  FusedPrograms described(const Group& group) const {
    FusedPrograms result{group, {}, {}};
    for (const std::size_t member : group) {
      result.kept.push_back(is_kept(member, group));
      auto& makers = result.makers.emplace_back();
      for (std::size_t i = 0; i < trace_[member].inputs.size(); ++i) {
        const auto maker = flow_.maker(member, i);
        makers.push_back(maker ? place_in(group, *maker) : std::nullopt);
      }
    }
    return result;
  }

  /// The buffers that some programs of a group read or write.
  struct Accesses {
    std::set<BufferId> read, stored;
  };
  Accesses accesses(const Group& programs, const Group& group) const {
    Accesses result;
    for (const std::size_t member : programs) {
      const Program& program = trace_[member];
      for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        const auto maker = flow_.maker(member, i);
        if (!maker || !place_in(group, *maker)) result.read.insert(program.inputs[i].buffer);
      }
      if (!is_kept(member, group)) continue;
      for (const Operand& output : program.outputs) result.stored.insert(output.buffer);
    }
    return result;
  }

  static bool meet(const std::set<BufferId>& a, const std::set<BufferId>& b) {
    return std::ranges::any_of(a, [&](BufferId buffer) { return b.contains(buffer); });
  }

  /// Joins each pair of groups for which `pattern` holds and that can meet.
  void join_all(Pattern pattern) {
    for (std::size_t first = 0; first < groups_.size(); ++first) {
      for (std::size_t second = first + 1; second < groups_.size(); ++second) {
        if (!(this->*pattern)(groups_[first], groups_[second])) continue;
        const auto place = meeting_place(first, second);
        if (!place) continue;
        join(first, second, *place);
        if (*place != first) {
          --first;  // Another group is now at this index.
          break;
        }
        second = first;
      }
    }
  }

  /// Returns where the two groups can be joined: the earliest place to which the second one can be
  /// moved back, if the first one can be moved there too. There, what they read was made recently,
  /// is still in a cache and need not be kept. So a gradient and the update that uses it meet right
  /// after the last use of the old weight, not at the end of the step.
  std::optional<std::size_t> meeting_place(std::size_t first, std::size_t second) const {
    const Group both = joined(first, second);
    const Accesses of_second = accesses(groups_[second], both);
    std::size_t place = second - 1;
    while (place > first && can_pass(of_second, groups_[place])) --place;
    const Accesses of_first = accesses(groups_[first], both);
    for (std::size_t between = first + 1; between <= place; ++between) {
      if (!can_pass(of_first, groups_[between])) return std::nullopt;
    }
    return place;
  }

  bool can_pass(const Accesses& own, const Group& group) const {
    const Accesses other = accesses(group, group);
    return !meet(own.stored, other.read) && !meet(own.stored, other.stored) &&
           !meet(own.read, other.stored);
  }

  Group joined(std::size_t first, std::size_t second) const {
    Group both = groups_[first];
    both.insert(both.end(), groups_[second].begin(), groups_[second].end());
    return both;
  }

  /// Joins `first` and `second` to one group at `place`, just before the second one; the groups
  /// between move up.
  void join(std::size_t first, std::size_t second, std::size_t place) {
    const auto at = [&](std::size_t i) { return groups_.begin() + static_cast<std::ptrdiff_t>(i); };
    groups_[first] = joined(first, second);
    groups_.erase(at(second));
    std::rotate(at(first), at(first + 1), at(place + 1));
  }

  std::span<const Program> trace_;
  DataFlow flow_;
  std::vector<Group> groups_;
};

}  // namespace

bool is_product(const Program& program) {
  const auto* const product = std::get_if<MatmulAttributes>(&program.attributes);
  return product != nullptr && !product->activation;
}

bool can_lead(const Program& program) { return is_product(program) || is_elementwise(program); }

bool is_elementwise(const Program& program) {
  const auto* eltwise = std::get_if<EltwiseAttributes>(&program.attributes);
  if (eltwise == nullptr) return std::holds_alternative<GeluBackwardAttributes>(program.attributes);
  const auto whole = [](const Operand& operand) { return operand.spec.is_whole(); };
  if (!eltwise->is_plain() || std::ranges::any_of(program.inputs, whole) ||
      std::ranges::any_of(program.outputs, whole)) {
    return false;
  }
  switch (eltwise->function) {  // An ElementPass has a loop for these.
    case Eltwise::add:
    case Eltwise::subtract:
    case Eltwise::multiply:
    case Eltwise::relu:
    case Eltwise::gtz:
    case Eltwise::square:
    case Eltwise::gelu:
    case Eltwise::cast:
      break;
    default:
      return false;
  }
  const Shape& shape = program.outputs[0].spec.shape;
  const bool same = program.inputs[0].spec.shape == shape;
  if (program.inputs.size() == 1) return same;
  const Shape& other = program.inputs[1].spec.shape;
  return same && (other == shape || is_one_row(other, shape));
}

bool is_whole_sum(const Program& program) {
  const auto* reduce = std::get_if<ReduceAttributes>(&program.attributes);
  return reduce != nullptr && reduce->dimension == Dimension::all &&
         reduce->reduction != Reduction::max && program.inputs[0].spec.is_real();
}

std::vector<FusedPrograms> fuse(std::span<const Program> trace) { return Rewriter(trace).run(); }

}  // namespace howard::host
