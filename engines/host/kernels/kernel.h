// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "engines/device/program.h"
#include "engines/host/kernels/workspace.h"
#include "engines/host/worker_pool.h"

namespace howard::host {

/// A program made ready: checked, its loops chosen, its addresses known. Can be called any number
/// of times, and computes with the values of that moment.
using Kernel = std::function<void()>;

/// What all kernels of a device share. Outlives them.
struct KernelContext {
  WorkerPool& pool;
  Workspace& workspace;
};

/// A program with the addresses of its operands' values, row by row without padding.
class Call {
 public:
  Call(const Program& program, std::span<std::byte* const> inputs,
       std::span<std::byte* const> outputs)
      : program_(program), inputs_(inputs), outputs_(outputs) {}

  std::size_t inputs() const { return inputs_.size(); }
  std::size_t outputs() const { return outputs_.size(); }
  const TensorSpec& in(std::size_t i) const { return program_.inputs[i].spec; }
  const TensorSpec& out(std::size_t i = 0) const { return program_.outputs[i].spec; }

  template <class T = std::byte>
  const T* in_values(std::size_t i) const {
    return reinterpret_cast<const T*>(inputs_[i]);
  }
  template <class T = std::byte>
  T* out_values(std::size_t i = 0) const {
    return reinterpret_cast<T*>(outputs_[i]);
  }

  /// Error, with the operands, unless `holds`; `accepted` is what the host has a kernel for.
  void require(bool holds, std::string_view accepted) const {
    if (!holds) refuse(accepted);
  }
  /// Error unless it has as many operands.
  void require_operands(std::size_t inputs, std::size_t outputs) const;
  /// Error unless every operand is of the first output's data type, bfloat16 or float32.
  void require_one_real_type() const;
  /// Error when an output lies where an input or another output does.
  void require_own_outputs() const;
  /// Error when two outputs lie in one place.
  void require_distinct_outputs() const;

 private:
  [[noreturn]] void refuse(std::string_view accepted) const;

  const Program& program_;
  std::span<std::byte* const> inputs_;
  std::span<std::byte* const> outputs_;
};

/// Whether `spec` holds numbers that the host computes with.
bool is_real(const TensorSpec& spec);

/// Columns of all its rows, one after the other.
inline std::int64_t rows_of(const Shape& shape) { return shape.batch() * shape.rows(); }

/// body(begin, end, worker) for ranges that together are 0 ... units, spread over the pool, none
/// of less than `grain` units unless that is all. No result may depend on where they end.
template <class Body>
void share(WorkerPool& pool, std::int64_t units, std::int64_t grain, const Body& body) {
  // Several ranges for each thread even the load out when a core is taken away for a while.
  constexpr std::int64_t kRangesPerThread = 4;
  const std::int64_t threads = pool.threads();
  const std::int64_t ranges =
      threads == 1 ? 1 : std::clamp(units / grain, std::int64_t{1}, threads * kRangesPerThread);
  if (ranges == 1) {
    body(std::int64_t{0}, units, 0);
    return;
  }
  pool.run(static_cast<int>(ranges), [&](int range, int worker) {
    body(units * range / ranges, units * (range + 1) / ranges, worker);
  });
}

/// As many rows of `columns` elements as are worth another thread: it takes about 0.3 us to give
/// it something, and an element about 0.3 ns.
inline std::int64_t row_grain(std::int64_t columns) {
  constexpr std::int64_t kElements = 8192;
  return std::max(std::int64_t{1}, kElements / columns);
}

}  // namespace howard::host
