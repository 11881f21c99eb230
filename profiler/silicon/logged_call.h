// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/program/program.h"
#include "engines/program/ttnn_words.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"

namespace howard::profiler::logged {

/// Throws the Error that tells of a call that the emulator cannot run.
[[noreturn]] void refuse(std::string value, std::string accepted);

/// A dimension of a tensor as it lies in memory and as it was asked for.
struct Side {
  std::int64_t padded = 1, logical = 1;
};

/// Reads "32[19]", padded and logical, or "32", of version 1, which is both. The result is absent
/// for anything else.
std::optional<Side> parse_side(std::string_view cell);

/// Holds a row, whose cells are taken apart when they are asked for: what an op's time does not
/// depend on may be of any kind.
class Call {
 public:
  /// Throws Error when there is no output. `row` must outlive this.
  explicit Call(const OpRow& row);

  std::string_view code;
  OpAttributes attributes;
  std::string_view fidelity;
  std::string_view kernels;  ///< The sources of its compute kernels; empty if the log has none.

  std::size_t inputs() const { return row_.inputs.size(); }
  /// Throws Error when the row has fewer, or the cells are malformed.
  const TensorSpec& in(std::size_t i) const;
  /// Returns the first output. Throws Error as in() does.
  const TensorSpec& out() const;

  /// Returns the cells of an input. Throws Error when the row has fewer.
  const TensorCells& cells(std::size_t i) const;
  const TensorCells& out_cells() const { return row_.outputs.front(); }
  const TensorCells& last_out_cells() const { return row_.outputs.back(); }
  const std::vector<TensorCells>& all_out_cells() const { return row_.outputs; }
  /// Returns the whole data type of a result; absent if the log has none for it.
  std::optional<DataType> place_type(std::size_t result) const;
  /// CORE COUNT, at the least 1; absent if the log has none.
  std::optional<std::int64_t> cores() const;
  /// Returns the banks of DRAM that the chip has.
  std::int64_t banks() const;

 private:
  const OpRow& row_;
  mutable std::vector<std::optional<TensorSpec>> inputs_;
  mutable std::optional<TensorSpec> output_;
};

/// Throws Error for a tensor of more elements than any chip holds, however many its sides are.
void require_size(std::initializer_list<std::int64_t> sides);

/// Returns the tensor of some cells, whose shards, if it has any, are not known. Throws Error when
/// the cells are malformed, or of storage or numbers that the emulator does not have.
TensorSpec spec_of(const TensorCells& cells);

/// Returns an op with what the call was told.
template <OpKind Kind>
Kind told(const Call& call, Kind op = {}) {
  Attributes attributes = std::move(op);
  read_ttnn(attributes, call.attributes, call.fidelity);
  return std::get<Kind>(attributes);
}

/// Returns the program of an op whose operands and results are those of the log, with what the call
/// was told. Throws Error when the emulator cannot run it.
Program program_of(const Call& call, Attributes op);

// These are the elementwise ops, by ttnn's names of their functions. Each throws Error when the
// emulator cannot run it.
Program binary(const Call& call);
Program unary(const Call& call);
Program ternary(const Call& call);
Program silu_backward(const Call& call);
Program cast(const Call& call);

// These are the ops of attention and of its heads and caches. Each throws Error when the emulator
// cannot run it. Where the position of decode_attention() is a tensor, it lacks its position.
Program attention(const Call& call);
Program chunked_attention(const Call& call);
Program decode_attention(const Call& call);
Program update_cache(const Call& call);
Program fill_cache(const Call& call);
Program rotary(const Call& call);

// These are the ops on images, whose windows are in sliding_window_config. Each throws Error when
// the emulator cannot run it.
Program convolution(const Call& call);
Program halo(const Call& call);
Program pool(const Call& call);
Program upsample(const Call& call);
Program group_norm(const Call& call);

// These are softmax, norms, sums and what chooses tokens. Each throws Error when the emulator
// cannot run it.
Program softmax(const Call& call);
Program layernorm(const Call& call);
/// The sums along any dimension.
Program running_sums(const Call& call);
Program topk(const Call& call);
Program sampling(const Call& call);
/// Numbers are written to places of rows.
Program scatter(const Call& call);

/// Returns what a product's attributes say, with its program_config.
MatmulAttributes product_attributes(const Call& call);

// These are the ops that devices run together. Each throws Error when the emulator cannot run it.
Program all_gather(const Call& call);
Program reduce_scatter(const Call& call);
/// Each device sends its tensor to all others, which add what comes.
Program all_reduce(const Call& call);
/// These compute a product while they exchange its operand or its result.
Program all_gather_matmul(const Call& call);
/// Tokens go to the devices of their experts, and what those made of them comes back.
Program all_to_all_dispatch(const Call& call);
Program all_to_all_combine(const Call& call);
/// The products of the experts of a device.
Program sparse_matmul(const Call& call);
Program matmul_reduce_scatter(const Call& call);

// These stand for ops that the emulator does not have. Each throws Error when the emulator cannot
// run it.
/// The sums of squares of a norm whose rows are shared by devices, and what follows when all have
/// all sums.
Program statistics_of_norm(const Call& call);
Program norm_of_statistics(const Call& call);
/// The operand is cut into parts.
Program all_parts(const Call& call);
/// A part of the operand goes where the result is.
Program part_to_memory(const Call& call);
/// The first operand becomes a part of the result.
Program memory_to_part(const Call& call);
Program gather_heads(const Call& call);
Program scatter_heads(const Call& call);
/// Devices that send each other their parts of a sum at once, from shards to shards.
Program scatter_at_once(const Call& call);
Program random(const Call& call);
/// The tiles that have padding are read and written.
Program fill_padding(const Call& call);
Program sum_of_rows(const Call& call);
Program integral_image(const Call& call);
Program grid_sample(const Call& call);
/// Attention over two sequences, one after the other.
Program joint_attention(const Call& call);

}  // namespace howard::profiler::logged
