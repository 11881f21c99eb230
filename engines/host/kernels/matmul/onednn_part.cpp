// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/onednn_part.h"

#include <array>
#include <string_view>

namespace howard::host {
namespace {

dnnl::memory::data_type type_of(DataType dtype) {
  return dtype == DataType::float32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

}  // namespace

const dnnl::engine& cpu_engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

Bytes size_of(const dnnl::memory::desc& description) {
  return Bytes(static_cast<std::int64_t>(description.get_size()));
}

dnnl::memory::desc plain_b(const MatmulShape& shape, DataType dtype, std::int64_t columns) {
  const bool tb = shape.transpose_b;
  return {{shape.k, columns}, type_of(dtype), {tb ? 1 : shape.n, tb ? shape.k : 1}};
}

dnnl::memory::desc any_b(const MatmulShape& shape, std::int64_t columns) {
  return {{shape.k, columns}, type_of(shape.b), dnnl::memory::format_tag::any};
}

dnnl::matmul::primitive_desc describe(const MatmulShape& shape, const PartSize& size,
                                      const RowSteps& steps,
                                      const std::optional<dnnl::memory::desc>& packed_b) {
  const SingleOpenMpThread single;
  // A part [matrices, rows, columns] of matrices that are stored with other distances. For a single
  // matrix the first dimension is left out, because oneDNN has faster kernels then.
  const auto part = [&](DataType dtype, dnnl::memory::dims sizes, dnnl::memory::dims strides) {
    if (size.matrices == 1) {
      sizes.erase(sizes.begin());
      strides.erase(strides.begin());
    }
    return dnnl::memory::desc(sizes, type_of(dtype), strides);
  };
  const auto [m, k, n] = std::array{shape.m, shape.k, shape.n};
  const bool ta = shape.transpose_a;
  const bool tb = shape.transpose_b;
  const auto a = part(shape.a, {shape.one_a ? 1 : size.matrices, size.rows, size.k},
                      {m * k, ta ? 1 : steps.a, ta ? steps.a : 1});
  const auto b = packed_b ? *packed_b
                          : part(shape.b, {shape.one_b ? 1 : size.matrices, size.k, size.columns},
                                 {k * n, tb ? 1 : steps.b, tb ? steps.b : 1});
  const auto c =
      part(shape.result, {size.matrices, size.rows, size.columns}, {m * steps.c, steps.c, 1});
  dnnl::primitive_attr attributes;
  // The library's own scratchpad would belong to the thread that made the primitive; ours belongs
  // to a worker.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (size.adds) {
    dnnl::post_ops sum;
    sum.append_sum();
    attributes.set_post_ops(sum);
  }
  if (!shape.bias || size.adds) return product_of(attributes, a, b, c);
  const auto bias = part(*shape.bias, {1, 1, size.columns}, {n, n, 1});
  return product_of(attributes, a, b, bias, c);
}

RowSteps plain_steps(const MatmulShape& shape) {
  return {.a = shape.transpose_a ? shape.m : shape.k,
          .b = shape.transpose_b ? shape.k : shape.n,
          .c = shape.n};
}

bool is_by_gemm(const MatmulShape& shape, const PartSize& size, const RowSteps& steps) {
  const std::string_view name = describe(shape, size, steps, {}).impl_info_str();
  return name.starts_with("gemm");
}

}  // namespace howard::host
