// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "engines/host/kernels/matmul/matmul_shape.h"
#include "engines/host/kernels/matmul/product_way.h"
#include "engines/host/worker_pool.h"

namespace howard::host {

/// The ways in which a device computes its large float32 products, one for each kind: A or B
/// transposed or neither, and small or large. All products of a device go by one tuning, so that
/// every engine on it gives the same bits.
class ProductTuning {
 public:
  /// Takes the fixed way for all kinds.
  ProductTuning();

  struct Measured;

  /// Measures one product of each kind in all ways on `pool`, which must be idle (choose_way()).
  /// This takes 0.8 s on two quiet Zen 4 cores, and not much more elsewhere, because kinds that are
  /// not reached after 0.8 s keep the fixed way.
  static Measured measured(WorkerPool& pool);

  /// Returns what the user's cache folder ($XDG_CACHE_HOME/howard, or ~/.cache/howard) has for this
  /// CPU, number of threads, instruction set and version of oneDNN. If it has nothing, `measure` is
  /// called. Its result is kept in the folder, if that can be written, once it is sure or has come
  /// twice in a row.
  static ProductTuning kept_or_measured(int threads, const std::function<Measured()>& measure);

  /// Returns what kept_or_measured() returned for measured(pool) when this was first called for
  /// this number of threads.
  static ProductTuning of_machine(WorkerPool& pool);

  /// Parses text(). Throws Error for another text.
  static ProductTuning parse(std::string_view text);

  /// Returns the way for a product; `shape` has the types that oneDNN multiplies in.
  const ProductWay& way(const MatmulShape& shape) const;

  /// Names the kinds and their ways: "plain=parts+gaps ..."; parse() is the inverse.
  std::string text() const;

  friend bool operator==(const ProductTuning&, const ProductTuning&) = default;

 private:
  static constexpr std::size_t kKinds = 6;

  static std::size_t kind_of(const MatmulShape& shape);

  std::array<ProductWay, kKinds> ways_;
};

/// What a measurement has found. It is not sure if a core was taken away meanwhile; then kinds that
/// were measured at that time have the fixed way.
struct ProductTuning::Measured {
  ProductTuning tuning;
  bool is_sure = true;
};

}  // namespace howard::host
