// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "engines/host/kernels/workspace.h"
#include "engines/host/worker_pool.h"
#include "engines/program/program.h"

namespace howard::host {

/// A program that is ready to run: it is checked, its loops are chosen and its addresses are known.
/// It can be called any number of times and uses the values that its buffers have at that moment.
using Kernel = std::function<void()>;

/// Holds what all kernels of a device share. It must outlive them.
struct KernelContext {
  WorkerPool& pool;
  Workspace& workspace;
};

/// A program with the addresses of its operands' values, which lie row by row without padding. Its
/// operands and results fit the op: make_program() has checked them.
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

  /// Throws Error, with the operands, unless `holds`. `accepted` says what the host has a kernel
  /// for.
  void require(bool holds, std::string_view accepted) const {
    if (!holds) refuse(accepted);
  }
  /// Throws Error unless all operands and results that are no places have one data type.
  void require_one_type() const;
  /// Says whether all of them are real numbers.
  bool is_real() const;
  /// Throws Error when two results share a place, or a result and an operand unless `in_place`.
  void require_places(bool in_place) const;

 private:
  [[noreturn]] void refuse(std::string_view accepted) const;

  const Program& program_;
  std::span<std::byte* const> inputs_;
  std::span<std::byte* const> outputs_;
};

/// Returns the number of rows of all matrices of the batch.
inline std::int64_t rows_of(const Shape& shape) { return shape.batch() * shape.rows(); }

/// Calls body(begin, end, worker) for ranges that together are 0 ... units, spread over the pool.
/// No range has less than `grain` units, unless there are no more in all. No result may depend on
/// where the ranges end.
template <class Body>
void share(WorkerPool& pool, std::int64_t units, std::int64_t grain, const Body& body) {
  // Several ranges for each thread even out the load when a core is taken away for a while.
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

/// Returns how many rows of `columns` elements are worth another thread: handing over work takes
/// about 0.3 us, and an element takes about 0.3 ns.
inline std::int64_t row_grain(std::int64_t columns) {
  constexpr std::int64_t kElements = 8192;
  return std::max(std::int64_t{1}, kElements / columns);
}

}  // namespace howard::host
