// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

#include <cstdint>
#include <dnnl.hpp>
#include <optional>

#include "base/units.h"
#include "engines/host/kernels/matmul/matmul_blocks.h"
#include "engines/host/kernels/matmul/matmul_shape.h"

namespace howard::host {

/// Makes oneDNN single-threaded on this thread during its lifetime, whatever OMP_NUM_THREADS says.
/// oneDNN's OpenMP runtime keeps the number of threads per thread; the destructor restores the
/// caller's.
class SingleOpenMpThread {
 public:
  SingleOpenMpThread() { omp_set_num_threads(1); }
  ~SingleOpenMpThread() { omp_set_num_threads(before_); }
  SingleOpenMpThread(const SingleOpenMpThread&) = delete;
  SingleOpenMpThread& operator=(const SingleOpenMpThread&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

const dnnl::engine& cpu_engine();

/// Describes a product of A, B, perhaps a bias, and C, which are memory descriptions. oneDNN 3 has
/// no separate descriptions of operations, oneDNN 2 has. Throws dnnl::error when it has no such
/// product.
template <class... Parts>
dnnl::matmul::primitive_desc product_of(const dnnl::primitive_attr& attributes,
                                        const Parts&... parts) {
#if DNNL_VERSION_MAJOR >= 3
  return {cpu_engine(), parts..., attributes};
#else
  return {dnnl::matmul::desc(parts...), attributes, cpu_engine()};
#endif
}

Bytes size_of(const dnnl::memory::desc& description);

/// Describes B [k, columns] as a part of the whole B in `dtype`.
dnnl::memory::desc plain_b(const MatmulShape& shape, DataType dtype, std::int64_t columns);

/// Describes B in the layout that oneDNN prefers, which describe() finds out.
dnnl::memory::desc any_b(const MatmulShape& shape, std::int64_t columns);

/// Describes the product of a part as oneDNN computes it. `packed_b`, for one matrix only,
/// describes B if it is packed. Throws dnnl::error when oneDNN has no such product.
dnnl::matmul::primitive_desc describe(const MatmulShape& shape, const PartSize& size,
                                      const RowSteps& steps,
                                      const std::optional<dnnl::memory::desc>& packed_b);

/// Returns the distances of the rows as they are stored without gaps.
RowSteps plain_steps(const MatmulShape& shape);

/// Returns whether oneDNN computes such a part by its gemm, which reads both factors as they are
/// stored. Its other kernels copy what they read and prefer a layout of their own for B.
bool is_by_gemm(const MatmulShape& shape, const PartSize& size, const RowSteps& steps);

}  // namespace howard::host
