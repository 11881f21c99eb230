// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/autograd/calls.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// Names a tensor on a tape by its number. Functions take and return values.
struct Value {
  std::uint32_t index = 0;

  /// Returns the next output of a function that has several.
  Value next(std::uint32_t by = 1) const { return {index + by}; }
};

/// Says how a tape computes.
struct TapeOptions {
  CallOptions calls;
  /// Parameters of another data type are cast to this one when they are used, and keep their own.
  /// So float32 parameters can go with bfloat16 products.
  DataType compute = DataType::bfloat16;
  std::uint32_t seed = 0;  ///< Dropout draws from this seed; use another one for each step.
  /// One uint32 on the device that is added to each seed when a program runs; absent means none.
  /// With it, all steps may use the seeds of the first step, as the replays of a captured step do.
  std::optional<ops::Tensor> seed_offset{};
  bool records = true;  ///< If false, the tape only runs forward, and calling backward() is a bug.
};

/// The record of one forward pass, from which the backward pass runs. Everything it holds is
/// released when it is destroyed: nodes name values by number, so nothing can keep itself alive.
///
/// A function computes forward with calls(), then records a node. A node is a trivially copyable
/// struct of values and numbers with `void backward(Tape&, Value output) const`, which takes
/// gradient(output) and hands accumulate() one gradient for each input.
class Tape {
 public:
  explicit Tape(Device& device, const TapeOptions& options = {});
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  const Calls& calls() const { return calls_; }
  const TapeOptions& options() const { return options_; }

  /// Adds a value without gradient: an input, or what a function keeps for its backward pass.
  Value constant(ops::Tensor tensor);
  /// Adds a value with a gradient of its own, which gradient() returns after backward().
  Value leaf(ops::Tensor tensor);
  /// Adds a parameter, which must outlive the tape. The backward pass sets the parameter's
  /// gradient, or adds to it if there is one. One that devices divide is gathered once in each part
  /// of the model, and must be used within one.
  Value parameter(Parameter& parameter);

  /// Begins a part of a model, maybe within another: the parameters that devices divide are whole
  /// until it ends.
  void open_part();
  /// Ends the part that was begun last. Returns `output`, which it has computed. Its parameters are
  /// gathered again before the backward pass goes through it.
  Value close_part(Value output);

  const ops::Tensor& tensor(Value value) const { return variable(value).tensor; }
  const TensorSpec& spec(Value value) const { return tensor(value).spec(); }
  bool needs_gradient(Value value) const { return variable(value).needs_gradient; }
  /// Returns a new seed for each dropout, one after the other.
  std::uint32_t next_seed() { return seed_++; }
  /// Returns what next_seed() would return, without taking it.
  std::uint32_t seed() const { return seed_; }
  void skip_to_seed(std::uint32_t seed) { seed_ = seed; }

  /// Adds values for `outputs`. If any of `inputs` needs a gradient, records `node`, which runs
  /// backward through them.
  template <class Node>
  Value record(std::span<const ops::Tensor> outputs, std::initializer_list<Value> inputs,
               const Node& node);
  template <class Node>
  Value record(const ops::Tensor& output, std::initializer_list<Value> inputs, const Node& node) {
    return record(std::span(&output, 1), inputs, node);
  }

  /// Runs backward from `loss`, one number whose own gradient is `gradient`. Each node is dropped
  /// with its values as soon as it has run; parameters and values made before the first node
  /// remain. Call it only once for each tape.
  void backward(Value loss, float gradient = 1);
  /// Runs backward from any value, with its gradient. Throws Error unless both have the same spec.
  void backward(Value output, const ops::Tensor& gradient);

  /// Returns, for nodes, the gradient of an output, or zeros if nothing used the output. The
  /// gradient of the loss is one number that the host writes to the device when it is first asked
  /// for as a tensor.
  ops::Tensor gradient(Value output);
  /// Returns, for nodes of a loss, the loss's gradient as the host knows it.
  float loss_gradient() const { return loss_gradient_; }
  /// Adds, for nodes, to the gradient of an input, if it needs one. The first gradient is taken as
  /// it is.
  void accumulate(Value input, ops::Tensor gradient);

 private:
  struct Variable {
    ops::Tensor tensor;
    std::optional<ops::Tensor> gradient;
    Parameter* parameter = nullptr;
    bool needs_gradient = false;
  };
  /// A divided parameter that a part of the model uses.
  struct Gathered {
    const Parameter* parameter = nullptr;
    Value share, whole;
    std::uint32_t part = 0;
  };
  friend struct GatheredAgain;
  struct Node {
    void (*run)(const std::byte* data, Tape& tape, Value output);
    Value output;
    std::uint32_t outputs;
    /// Values from this index on belong to this node or to later nodes.
    std::uint32_t first_value;
    alignas(8) std::array<std::byte, 64> data;
  };

  const Variable& variable(Value value) const;
  Variable& variable(Value value) {
    return const_cast<Variable&>(std::as_const(*this).variable(value));
  }
  Value add_variable(ops::Tensor tensor, bool needs_gradient);
  bool has_gradient(const Node& node) const;
  Value own_parameter(Parameter& parameter);
  Value whole_parameter(Parameter& parameter);
  void gather_part(std::uint32_t part);
  void unwind();

  Calls calls_;
  TapeOptions options_;
  std::uint32_t seed_;
  std::vector<Variable> variables_;
  std::vector<Node> nodes_;
  std::vector<Gathered> gathered_;
  std::vector<std::uint32_t> open_parts_;
  std::uint32_t parts_ = 0;  ///< The parts that have been opened.
  float loss_gradient_ = 1;
  std::optional<Value> loss_;
};

template <class NodeType>
Value Tape::record(std::span<const ops::Tensor> outputs, std::initializer_list<Value> inputs,
                   const NodeType& node) {
  static_assert(std::is_trivially_copyable_v<NodeType>);
  static_assert(sizeof(NodeType) <= sizeof(Node::data) && alignof(NodeType) <= 8);
  bool needs_gradient = false;
  for (const Value input : inputs) needs_gradient |= this->needs_gradient(input);
  needs_gradient &= options_.records;
  const Value first{static_cast<std::uint32_t>(variables_.size())};
  for (const ops::Tensor& output : outputs) add_variable(output, needs_gradient);
  if (!needs_gradient) return first;
  const auto run = [](const std::byte* data, Tape& tape, Value output) {
    NodeType copy;
    std::memcpy(&copy, data, sizeof(copy));
    copy.backward(tape, output);
  };
  const std::uint32_t first_value =
      nodes_.empty() ? 0 : nodes_.back().output.index + nodes_.back().outputs;
  Node& added = nodes_.emplace_back(
      Node{run, first, static_cast<std::uint32_t>(outputs.size()), first_value, {}});
  std::memcpy(added.data.data(), &node, sizeof(node));
  return first;
}

}  // namespace howard::autograd
