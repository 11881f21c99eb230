// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/program/tensor_spec.h"

namespace howard::query {

/// The chip and the software that are asked about.
struct Target {
  std::string chip = "wormhole_b0_n300";  ///< A profile, as --chip takes it.
  std::string software{};                 ///< As --software takes it; the chip's by default.
  std::vector<std::string> settings{};  ///< As --set takes them: "matmul.legacy_selection=0count".
  bool eth_dispatch = false;            ///< Ethernet cores dispatch: all Tensix cores compute.
  Bytes l1_small;  ///< What ttnn.open_device(l1_small_size=...) sets aside on each core.
};

/// Memory of L1 that is in use on each core.
struct LiveBuffer {
  Bytes size;                    ///< On each core.
  std::optional<Bytes> address;  ///< If it is known; otherwise it lies below the one before it.
};

/// A call of an op: that of a list of ops or of ttnn, with what it is told and where its tensors
/// lie.
struct OpCall {
  std::string op;            ///< "matmul", "add", "linear", "batch_norm" ...
  std::string attributes{};  ///< Its fields, as a JSON object; none if it is empty.
  std::vector<std::optional<TensorSpec>> inputs;  ///< Absent is an operand that is left out.
  /// The results as they are wanted. If there are none, they follow from the operands and lie
  /// interleaved in DRAM.
  std::vector<TensorSpec> outputs{};
  /// What is alive in L1 besides. Absent, nothing is, and operands take nothing, as in tt-mlir's
  /// query without a state. If present, the tensors among operands have to be in it as well.
  std::optional<std::vector<LiveBuffer>> live{};
};

/// What a call takes. Sizes of L1 are bytes of each core.
struct OpAnswer {
  bool legal = false;
  std::string reason;  ///< Why it is not legal, in ttnn's words where ttnn has some.

  SimTime kernel;    ///< From the first kernel start to the last kernel end, of all launches.
  SimTime dispatch;  ///< The dispatcher's work for them that nothing hides.
  SimTime host;      ///< The host's work in C++.
  double expected_error = 0;  ///< How far kernel times of this kind are off on average: 0.1.
  std::string_view rests_on;  ///< "calibrated", "interpolated", "one kernel" or "by analogy".
  std::string_view bound_by;  ///< "in0 reads", "math", "DRAM bandwidth" ...
  int launches = 0;

  Bytes circular_buffers;      ///< The largest of its launches.
  bool exact_buffers = false;  ///< By the kernels' own rules; otherwise it is an estimate.
  Bytes tensors;               ///< The most that results and temporaries take at once.
  Bytes peak;                  ///< The most that both take at once.
  Bytes output_l1;             ///< All results in L1 together.
  Bytes dram_of_bank;          ///< All results in DRAM together, of each bank.
  std::vector<TensorSpec> outputs;
  std::string matmul_config;  ///< ttnn's choice, or the caller's, as ttnn's logs print it.
};

/// Answers calls without a device. It reads no file but profiles that are named by their files, and
/// keeps no state but answers that it has given: equal calls have equal answers. Any number of
/// threads may ask at once.
class OpModel {
 public:
  /// Throws Error for a profile that there is not, and for dispatch that the chip cannot have.
  explicit OpModel(const Target& target = {});
  ~OpModel();
  OpModel(const OpModel&) = delete;
  OpModel& operator=(const OpModel&) = delete;

  /// Returns what a call takes. One that ttnn refuses, or that nobody can read, is an answer too:
  /// it is not legal, and has a reason. It lives as long as the caller keeps it.
  std::shared_ptr<const OpAnswer> answer(const OpCall& call) const;
  /// Returns the answers in the order of the calls.
  std::vector<std::shared_ptr<const OpAnswer>> answers(std::span<const OpCall> calls) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads a call: {"op":"matmul","in":["64x128","128x32 l1"],"out":["64x32 l1"],"transpose_b":false,
/// "live":[4096]}. Tensors are said as in lists of ops; null is an operand that is left out. All
/// other members are attributes. Throws Error for anything else.
OpCall parse_call(std::string_view json);

/// Returns what the largest bank has of a tensor that is interleaved over `banks`, page by page: a
/// page is a tile, or a row of a row-major tensor, in whole units of `alignment`.
Bytes bank_bytes(const TensorSpec& spec, std::int64_t banks, Bytes alignment);

}  // namespace howard::query
