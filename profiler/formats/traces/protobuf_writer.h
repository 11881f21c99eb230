// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace howard::profiler {

/// Appends fields to a protobuf message (protobuf.dev/programming-guides/encoding). It has the two
/// types that a trace needs: whole numbers and values with a length.
class ProtobufWriter {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3U);
    varint(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    constexpr std::uint64_t kHasLength = 2;
    varint((std::uint64_t{field} << 3U) | kHasLength);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const ProtobufWriter& value) { text(field, value.bytes_); }

  void clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    constexpr std::uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7U) bytes_ += static_cast<char>(value | kMore);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace howard::profiler
