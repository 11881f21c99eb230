// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_calls.h"

namespace howard::experiments {

TensorSpec interleaved(std::int64_t rows, std::int64_t columns, DataType dtype, Storage storage) {
  return {.shape = {rows, columns}, .dtype = dtype, .storage = storage};
}

TensorSpec heads_of(std::int64_t heads, std::int64_t rows, std::int64_t columns, DataType dtype) {
  return {.shape = {1, heads, rows, columns}, .dtype = dtype};
}

TensorSpec group_handle() {
  return {.shape = {1}, .dtype = DataType::uint32, .layout = Layout::row_major};
}

std::vector<std::int64_t> head_splits(const Serving& serving) {
  // tt_transformers gives each of 64 cores at most 668 columns, in multiples of 32.
  constexpr std::int64_t kMostColumns = std::int64_t{668} * 64;
  std::int64_t left = serving.column_share(serving.model.vocabulary);
  std::vector<std::int64_t> splits;
  for (; left > kMostColumns; left -= kMostColumns) splits.push_back(kMostColumns);
  splits.push_back(left);
  return splits;
}

}  // namespace howard::experiments
