// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "engines/host/products/matmul_shape.h"
#include "engines/host/products/product_way.h"
#include "engines/host/worker_pool.h"

namespace howard::host {

/// The ways in which a device computes its large float32 products, one for each kind: A or B
/// transposed or neither, and small or large. All products of a device go by one tuning, so that
/// every engine on it gives the same bits.
class ProductTuning {
 public:
  /// Takes the fixed way for all kinds.
  ProductTuning();

  /// Measures one product of each kind in all ways on `pool`, which must be idle: half a second on
  /// a Zen 4 core, and at most about a second elsewhere, because kinds that are not reached by then
  /// keep the fixed way. A way must be 3 % faster than the fixed one to replace it, and 7 % if it
  /// has larger blocks.
  static ProductTuning measured(WorkerPool& pool);

  /// Returns what this machine has measured. At the first call for a number of threads, this is
  /// read from the user's cache folder ($XDG_CACHE_HOME/howard, or ~/.cache/howard). If the folder
  /// has nothing for this CPU, number of threads, instruction set and version of oneDNN, the call
  /// measures now. The result is then kept in the folder, or for this process if the folder cannot
  /// be written.
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

}  // namespace howard::host
