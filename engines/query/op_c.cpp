// SPDX-License-Identifier: Apache-2.0
#include "engines/query/op_c.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "engines/query/op.h"

using howard::Bytes;
using howard::TensorSpec;
using howard::query::OpAnswer;
using howard::query::OpCall;

struct howard_op_model {
  howard::query::OpModel model;
};

namespace {

/// Copies as much of a text as there is room for, and ends it.
void copy_text(std::string_view text, char* to, std::size_t size) {
  if (to == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

[[noreturn]] void refuse(std::string value, std::string accepted) {
  throw howard::Error({.attempted = "read a tensor of a call",
                       .value = std::move(value),
                       .accepted = std::move(accepted)});
}

std::int32_t within(std::int32_t value, std::int32_t most, const char* what) {
  if (value >= 0 && value <= most) return value;
  refuse(std::string(what) + " " + std::to_string(value), "0 to " + std::to_string(most));
}

std::optional<TensorSpec> spec_of(const howard_tensor& tensor) {
  if (tensor.rank == 0) return std::nullopt;
  if (tensor.rank > 4) refuse("rank " + std::to_string(tensor.rank), "1 to 4");
  constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
  std::array<std::int64_t, 4> sides{1, 1, 1, 1};
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < tensor.rank; ++i) {
    const std::int64_t side = tensor.dims[i];
    if (side < 1 || side > kMostElements / elements) {
      refuse("a dimension of " + std::to_string(side), "at most 2^40 elements");
    }
    elements *= side;
    sides.at(4 - tensor.rank + i) = side;
  }
  TensorSpec spec{
      .shape = {sides[0], sides[1], sides[2], sides[3]},
      .dtype = static_cast<howard::DataType>(within(tensor.dtype, HOWARD_UINT8, "dtype")),
      .layout = static_cast<howard::Layout>(within(tensor.layout, HOWARD_ROW_MAJOR, "layout")),
      .storage = static_cast<howard::Storage>(within(tensor.buffer, HOWARD_L1, "buffer"))};
  const std::int32_t memory = within(tensor.memory_layout, HOWARD_BLOCK_SHARDED, "memory_layout");
  if (memory == HOWARD_INTERLEAVED) return spec;
  constexpr std::int64_t kMostSide = std::int64_t{1} << 32;
  if (tensor.shard_rows < 1 || tensor.shard_columns < 1 || tensor.shard_rows > kMostSide ||
      tensor.shard_columns > kMostSide) {
    refuse("a shard without rows or columns", "shards of 1 to 2^32 rows and columns");
  }
  if (tensor.grid_columns < 1 || tensor.grid_rows < 1) refuse("a grid without cores", "1x1 on");
  spec.sharding =
      howard::Sharding{.layout = static_cast<howard::ShardLayout>(memory - HOWARD_HEIGHT_SHARDED),
                       .grid = {within(tensor.grid_columns, 64, "grid_columns"),
                                within(tensor.grid_rows, 64, "grid_rows")},
                       .rows = tensor.shard_rows,
                       .columns = tensor.shard_columns,
                       .column_major = tensor.column_major != 0};
  return spec;
}

howard_tensor tensor_of(const TensorSpec& spec) {
  howard_tensor tensor{};
  tensor.rank = 4;
  std::ranges::copy(spec.shape.dimensions(), tensor.dims);
  tensor.dtype = static_cast<std::int32_t>(spec.dtype);
  tensor.layout = static_cast<std::int32_t>(spec.layout);
  tensor.buffer = static_cast<std::int32_t>(spec.storage);
  if (!spec.sharding) return tensor;
  tensor.memory_layout = HOWARD_HEIGHT_SHARDED + static_cast<std::int32_t>(spec.sharding->layout);
  tensor.grid_columns = spec.sharding->grid.columns;
  tensor.grid_rows = spec.sharding->grid.rows;
  tensor.shard_rows = spec.sharding->rows;
  tensor.shard_columns = spec.sharding->columns;
  tensor.column_major = spec.sharding->column_major ? 1 : 0;
  return tensor;
}

Bytes bytes_of(std::uint64_t value) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  return Bytes(static_cast<std::int64_t>(std::min(value, kMost)));
}

OpCall call_of(const howard_op_call& given) {
  OpCall call{.op = given.op, .attributes = given.attributes ? given.attributes : "", .inputs = {}};
  for (std::size_t i = 0; i < given.input_count; ++i) {
    call.inputs.push_back(spec_of(given.inputs[i]));
  }
  for (std::size_t i = 0; i < given.output_count; ++i) {
    if (auto spec = spec_of(given.outputs[i])) call.outputs.push_back(*spec);
  }
  if (given.live == nullptr) return call;
  call.live.emplace();
  for (std::size_t i = 0; i < given.live_count; ++i) {
    const howard_live& live = given.live[i];
    call.live->push_back({.size = bytes_of(live.bytes), .address = {}});
    if (live.address != 0) call.live->back().address = bytes_of(live.address);
  }
  return call;
}

std::uint64_t number(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void fill(howard_op_answer& to, const OpAnswer& from) {
  const std::size_t size = to.size;
  to = {};
  to.size = size;
  to.legal = from.legal ? 1 : 0;
  to.exact_buffers = from.exact_buffers ? 1 : 0;
  to.kernel_ps = number(from.kernel.ps());
  to.dispatch_ps = number(from.dispatch.ps());
  to.host_ps = number(from.host.ps());
  to.expected_error = from.expected_error;
  to.circular_buffers = number(from.circular_buffers.value());
  to.tensors = number(from.tensors.value());
  to.peak = number(from.peak.value());
  to.output_l1 = number(from.output_l1.value());
  to.dram_of_bank = number(from.dram_of_bank.value());
  to.launches = static_cast<std::uint32_t>(from.launches);
  for (const TensorSpec& output : from.outputs) {
    if (to.output_count < std::size(to.outputs)) to.outputs[to.output_count++] = tensor_of(output);
  }
  copy_text(from.rests_on, to.rests_on, sizeof to.rests_on);
  copy_text(from.bound_by, to.bound_by, sizeof to.bound_by);
  copy_text(from.reason, to.reason, sizeof to.reason);
  copy_text(from.matmul_config, to.matmul_config, sizeof to.matmul_config);
}

bool is_usable(const howard_op_call& call) {
  return call.size == sizeof(howard_op_call) && call.op != nullptr &&
         (call.inputs != nullptr || call.input_count == 0) &&
         (call.outputs != nullptr || call.output_count == 0);
}

}  // namespace

uint32_t howard_op_version(void) { return HOWARD_OP_VERSION; }

howard_op_model* howard_op_open(const char* chip, const char* software, int eth_dispatch,
                                uint64_t l1_small, char* error, size_t error_size) {
  try {
    howard::query::Target target{.eth_dispatch = eth_dispatch != 0, .l1_small = bytes_of(l1_small)};
    if (chip != nullptr) target.chip = chip;
    if (software != nullptr) target.software = software;
    return new howard_op_model{howard::query::OpModel(target)};
  } catch (const std::exception& failure) {
    copy_text(howard::reason_of(failure), error, error_size);
  }
  return nullptr;
}

void howard_op_close(howard_op_model* model) { delete model; }

int howard_op_query(const howard_op_model* model, const howard_op_call* call,
                    howard_op_answer* answer) {
  if (model == nullptr || call == nullptr || answer == nullptr || !is_usable(*call) ||
      answer->size != sizeof(howard_op_answer)) {
    return HOWARD_BAD_ARGUMENT;
  }
  try {
    fill(*answer, *model->model.answer(call_of(*call)));
    return HOWARD_OK;
  } catch (const howard::Error& error) {
    OpAnswer refused;
    refused.reason = error.text().value + "; accepted: " + error.text().accepted;
    fill(*answer, refused);
    return HOWARD_OK;
  } catch (const std::bad_alloc&) {
    return HOWARD_NO_MEMORY;
  } catch (...) {
    return HOWARD_BAD_ARGUMENT;
  }
}

int howard_op_query_batch(const howard_op_model* model, const howard_op_call* calls, size_t count,
                          howard_op_answer* answers, size_t* answered) {
  if (answered != nullptr) *answered = 0;
  if (count > 0 && (calls == nullptr || answers == nullptr)) return HOWARD_BAD_ARGUMENT;
  for (std::size_t i = 0; i < count; ++i) {
    const int status = howard_op_query(model, calls + i, answers + i);
    if (status != HOWARD_OK) return status;
    if (answered != nullptr) ++*answered;
  }
  return HOWARD_OK;
}
