// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace howard::language {

/// A tensor with its numbers, row by row.
struct WeightTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  friend bool operator==(const WeightTensor&, const WeightTensor&) = default;
};

/// A file of the format safetensors: the length of a header as 8 bytes in little endian, the header
/// as JSON, then the tensors' numbers. Nothing in it is executed.
class Safetensors {
 public:
  /// `source` names the file in messages. Throws Error, naming what is wrong, for a file that is
  /// truncated; for a header that is not JSON of the format, has more than 100 MB or has a name
  /// twice; and for tensors that lie outside the file, overlap, leave holes, or do not have the
  /// bytes of their shape.
  Safetensors(std::string bytes, std::string source);

  std::vector<std::string> names() const;
  bool has(const std::string& name) const { return entries_.contains(name); }
  /// Returns a tensor of F32, F16 or BF16 as float32. Throws Error for a tensor that is missing or
  /// of another type.
  WeightTensor tensor(const std::string& name) const;

 private:
  struct Entry {
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::size_t begin = 0, end = 0;  ///< Offsets in bytes_.
  };

  void read_entries(std::size_t header);
  void require_gapless(std::size_t data) const;
  [[noreturn]] void fail(std::string value, std::string accepted) const;

  std::string bytes_;
  std::string source_;
  std::map<std::string, Entry> entries_;
};

/// Reads the safetensors files of a folder in the order of their names, or one file. Throws Error
/// as Safetensors does, and for a path with none.
std::vector<Safetensors> read_weights(const std::filesystem::path& path);

/// Says how numbers are stored.
enum class WeightType : std::uint8_t { float32, bfloat16 };

/// Returns a file with these tensors, in the order of their names.
std::string safetensors_bytes(const std::map<std::string, WeightTensor>& tensors, WeightType type);

}  // namespace howard::language
