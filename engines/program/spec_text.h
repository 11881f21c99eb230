// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engines/program/tensor_spec.h"

namespace howard {

/// Reads how a tensor lies, word by word: a data type, "tile" or "row_major", "dram" or "l1", and
/// shards ("width:8x1:32x512", in L1 unless "dram" is said).
class SpecWords {
 public:
  /// Of a tensor in tiles in DRAM, unless words say otherwise.
  explicit SpecWords(const Shape& shape, DataType dtype = DataType::bfloat16)
      : spec_{.shape = shape, .dtype = dtype} {}

  /// Takes a word. The result is empty if it says one of these for the first time; otherwise it is
  /// what was accepted in its place: "one memory" for a second one.
  std::string_view refuse(std::string_view word);

  const TensorSpec& spec() const { return spec_; }

 private:
  TensorSpec spec_;
  bool has_dtype_ = false, has_layout_ = false, has_storage_ = false;
};

}  // namespace howard
