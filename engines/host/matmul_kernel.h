// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engines/device/tensor_spec.h"
#include "engines/host/host_memory.h"
#include "engines/host/worker_pool.h"

namespace howard::host {

/// C[m, n] = A[m, k] B[k, n], all of `dtype`: bfloat16 or float32. A batch of A counts into m.
struct MatmulShape {
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  DataType dtype = DataType::bfloat16;

  friend auto operator<=>(const MatmulShape&, const MatmulShape&) = default;
};

/// Matrix products through oneDNN, accumulated in float32. The product is cut into blocks of rows
/// or of columns, and each is one single-threaded oneDNN primitive on a thread of the pool:
/// oneDNN's own threads (libgomp) would wait for the next product spinning, up to milliseconds, on
/// the cores that the pool needs for everything else.
///
/// The blocks depend on the shape and the number of threads alone, and no sum is split over
/// blocks: equal operands give equal bits. Primitives are made at the first product of a shape
/// and kept. Without AVX-512, where oneDNN has no bfloat16, bfloat16 is widened to float32 and the
/// result rounded: the same arithmetic, slower.
class MatmulKernel {
 public:
  /// `pool` must outlive the kernel.
  explicit MatmulKernel(WorkerPool& pool);
  ~MatmulKernel();

  /// The operands hold `shape`'s elements row by row; `c` overlaps neither `a` nor `b`. One thread
  /// calls it at a time. Error when oneDNN or the system refuses (memory).
  void run(const MatmulShape& shape, const std::byte* a, const std::byte* b, std::byte* c);

 private:
  class Plan;

  void multiply(const MatmulShape& shape, const std::byte* a, const std::byte* b, std::byte* c);
  void multiply_widened(const MatmulShape& shape, const std::byte* a, const std::byte* b,
                        std::byte* c);
  Plan& planned(const MatmulShape& shape);

  WorkerPool& pool_;
  std::map<MatmulShape, std::unique_ptr<Plan>> plans_;
  std::vector<AlignedBytes> scratch_;  ///< Of each worker, as large as the neediest plan wants.
  Bytes scratch_size_;
  std::vector<float> wide_a_, wide_b_, wide_c_;  ///< Empty unless bfloat16 has to be widened.
};

}  // namespace howard::host
