// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "profiler/formats/csv/byte_source.h"

namespace howard::profiler {

/// Returns whether a file that begins so is compressed by gzip.
bool is_gzip(std::string_view beginning);

/// Reads what gzip compressed, also of several members end to end. The compressed source must
/// outlive it.
class GzipSource final : public ByteSource {
 public:
  /// `name` is the file's, for messages.
  GzipSource(ByteSource& compressed, std::string name);
  ~GzipSource() override;

  /// Throws Error for damage, and for a file that ends too soon.
  std::size_t read(std::span<char> buffer) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace howard::profiler
