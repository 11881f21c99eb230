// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/matmul_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <dnnl.hpp>
#include <new>
#include <string>

#include "base/error.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

MatmulShape shape_of(const MatmulAttributes& attributes, const Call& call,
                     const ResultPlace& place) {
  const bool biased = call.inputs() == 3;
  const TensorSpec& a = call.in(0);
  const TensorSpec& b = call.in(1);
  const TensorSpec& c = call.out();
  const Shape left = attributes.transpose_a ? a.shape.transposed() : a.shape;
  const Shape right = attributes.transpose_b ? b.shape.transposed() : b.shape;
  const bool one_a = left.batch() == 1;
  const bool one_b = right.batch() == 1;
  call.require(!biased || call.in(2).dtype == a.dtype || call.in(2).dtype == b.dtype,
               "a bias of an operand's data type");
  MatmulShape shape{.batch = std::max(left.batch(), right.batch()),
                    .m = left.rows(),
                    .k = left.columns(),
                    .n = right.columns(),
                    .one_a = one_a && !one_b,
                    .one_b = one_b && !one_a,
                    .transpose_a = attributes.transpose_a,
                    .transpose_b = attributes.transpose_b,
                    .a = a.dtype,
                    .b = b.dtype,
                    .bias = {},
                    .result = c.dtype,
                    .wide_result = place.wide,
                    .stores_result = place.stored};
  if (biased) shape.bias = call.in(2).dtype;
  if (shape.one_b && !shape.transpose_a) {
    // The rows of all matrices of A are treated as the rows of one matrix.
    shape.m *= shape.batch;
    shape.batch = 1;
    shape.one_b = false;
  }
  return shape;
}

/// Calls run() and turns what oneDNN and the system throw into an Error.
template <class Run>
void explained(const MatmulShape& shape, const Run& run) {
  std::string refusal;
  try {
    run();
    return;
  } catch (const dnnl::error& error) {
    refusal = fmt::format("oneDNN refuses: {}", error.message);
  } catch (const std::bad_alloc&) {
    refusal = "the system has no memory left for it";
  }
  throw Error({.attempted = fmt::format("multiply {}x{} by {}x{} {} on the host", shape.m, shape.k,
                                        shape.k, shape.n, name_of(shape.a)),
               .value = refusal,
               .hint = "smaller shapes"});
}

}  // namespace

MatmulKernels::MatmulKernels(const KernelContext& context) : context_(context) {}

MatmulKernels::~MatmulKernels() = default;

Kernel MatmulKernels::make_kernel(const MatmulAttributes& attributes, const Call& call,
                                  const ProductFinish& finish, const ResultPlace& place) {
  const MatmulShape shape = shape_of(attributes, call, place);
  const MatmulOperands operands{.a = call.in_values(0),
                                .b = call.in_values(1),
                                .bias = shape.bias ? call.in_values(2) : nullptr,
                                .c = call.out_values()};
  return [this, shape, operands, finish, &plan = planned(shape)] {
    explained(shape, [&] { plan.run(operands, context_.pool, context_.workspace, finish); });
  };
}

DataType MatmulKernels::type_for_pass(const Program& product) {
  const DataType in = multiplied_in(product.inputs[0].spec.dtype, product.inputs[1].spec.dtype);
  return in == DataType::float32 ? in : product.outputs[0].spec.dtype;
}

ProductPlan& MatmulKernels::planned(const MatmulShape& shape) {
  const auto known = plans_.find(shape);
  if (known != plans_.end()) return *known->second;
  std::unique_ptr<ProductPlan> plan;
  explained(shape, [&] { plan = std::make_unique<ProductPlan>(shape, context_.pool.threads()); });
  return *plans_.emplace(shape, std::move(plan)).first->second;
}

}  // namespace howard::host
