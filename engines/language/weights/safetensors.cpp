// SPDX-License-Identifier: Apache-2.0
#include "engines/language/weights/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json_dump.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/device/bfloat16.h"

namespace howard::language {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;

/// Returns the bytes of an element, or nothing for a type that the format does not have.
std::optional<std::size_t> element_width(const std::string& dtype) {
  static const std::map<std::string, std::size_t> kWidths{
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
  const auto found = kWidths.find(dtype);
  return found == kWidths.end() ? std::nullopt : std::optional(found->second);
}

float half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1f) {
    const float infinite = std::numeric_limits<float>::infinity();
    return fraction == 0 ? sign * infinite : std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
}

/// Returns the elements of a shape, or nothing if they are more than any file has.
std::optional<std::uint64_t> elements_of(const std::vector<std::int64_t>& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  std::uint64_t count = 1;
  for (const std::int64_t side : shape) {
    if (side < 0) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(side);
    if (size != 0 && count > kMost / size) return std::nullopt;
    count *= size;
  }
  return count;
}

}  // namespace

Safetensors::Safetensors(std::string bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
  std::uint64_t length = 0;
  if (bytes_.size() < kLengthBytes) fail("it is truncated", "a file of safetensors");
  std::memcpy(&length, bytes_.data(), kLengthBytes);
  if (length > kMostHeaderBytes) {
    fail(fmt::format("a header of {} bytes", length), "100 MB at most");
  }
  if (length > bytes_.size() - kLengthBytes) {
    fail(fmt::format("a header of {} bytes in a file of {}", length, bytes_.size()),
         "a whole file");
  }
  read_entries(static_cast<std::size_t>(length));
}

void Safetensors::read_entries(std::size_t header) {
  const std::string_view text(bytes_.data() + kLengthBytes, header);
  const std::size_t data = kLengthBytes + header;
  const JsonDocument header_json(
      text, {.attempted = "read the header of " + source_, .accepted = "names with their tensors"});
  for (const auto& [name, value] : header_json.root().members()) {
    if (name == "__metadata__") continue;
    Entry entry;
    std::vector<std::uint64_t> offsets;
    value.member("dtype").read(entry.dtype);
    value.member("shape").read(entry.shape);
    value.member("data_offsets").read(offsets);
    const auto width = element_width(entry.dtype);
    const auto elements = elements_of(entry.shape);
    if (!width) value.member("dtype").fail("F32, F16, BF16 and others");
    const bool fits = elements && offsets.size() == 2 && offsets[0] <= offsets[1] &&
                      offsets[1] <= bytes_.size() - data &&
                      offsets[1] - offsets[0] == *elements * *width;
    if (!fits) value.fail("a tensor that lies in the file with the bytes of its shape");
    entry.begin = data + static_cast<std::size_t>(offsets[0]);
    entry.end = data + static_cast<std::size_t>(offsets[1]);
    if (!entries_.emplace(name, std::move(entry)).second) {
      fail("'" + name + "' is there twice", "each name once");
    }
  }
  require_gapless(data);
}

void Safetensors::require_gapless(std::size_t data) const {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const auto& [name, entry] : entries_) places.emplace_back(entry.begin, entry.end);
  std::ranges::sort(places);
  std::size_t at = data;
  for (const auto& [begin, end] : places) {
    if (begin != at) fail("its tensors overlap or leave holes", "one behind the other");
    at = end;
  }
  if (at != bytes_.size()) fail("bytes behind its tensors", "one behind the other, to the end");
}

void Safetensors::fail(std::string value, std::string accepted) const {
  throw Error(
      {.attempted = "read " + source_, .value = std::move(value), .accepted = std::move(accepted)});
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

WeightTensor Safetensors::tensor(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) fail("there is no " + name, join(names(), ", "));
  const Entry& entry = found->second;
  WeightTensor result{.shape = entry.shape, .values = {}};
  const char* const from = bytes_.data() + entry.begin;
  if (entry.dtype == "F32") {
    result.values.resize((entry.end - entry.begin) / sizeof(float));
    // If there are no numbers, they have no address, and memcpy must not be given one.
    if (!result.values.empty()) std::memcpy(result.values.data(), from, entry.end - entry.begin);
    return result;
  }
  if (entry.dtype != "F16" && entry.dtype != "BF16") {
    fail(fmt::format("{} is {}", name, entry.dtype), "F32, F16, BF16");
  }
  const bool half = entry.dtype == "F16";
  for (std::size_t at = entry.begin; at < entry.end; at += sizeof(std::uint16_t)) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes_.data() + at, sizeof(bits));
    result.values.push_back(half ? half_value(bits) : from_bfloat16(bits));
  }
  return result;
}

std::vector<Safetensors> read_weights(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, failure)) {
      if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
    }
    std::ranges::sort(files);
  } else {
    files.push_back(path);
  }
  if (files.empty()) {
    throw Error({.attempted = "read the weights in " + path.string(),
                 .value = failure ? failure.message() : "no file ends in .safetensors",
                 .accepted = "a file of safetensors, or a folder that has some"});
  }
  std::vector<Safetensors> weights;
  for (const std::filesystem::path& file : files) {
    weights.emplace_back(read_file(file), file.string());
  }
  return weights;
}

std::string safetensors_bytes(const std::map<std::string, WeightTensor>& tensors, WeightType type) {
  const std::size_t width = type == WeightType::float32 ? 4 : 2;
  nlohmann::json header = nlohmann::json::object();
  header["__metadata__"] = {{"format", "pt"}};
  std::size_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t begin = end;
    end += tensor.values.size() * width;
    header[name] = {{"dtype", type == WeightType::float32 ? "F32" : "BF16"},
                    {"shape", tensor.shape},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = json_dump(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes.reserve(bytes.size() + text.size() + end);
  bytes += text;
  for (const auto& [name, tensor] : tensors) {
    if (type == WeightType::float32) {
      bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                   tensor.values.size() * sizeof(float));
      continue;
    }
    for (const float value : tensor.values) {
      const std::uint16_t bits = to_bfloat16(value);
      bytes.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
    }
  }
  return bytes;
}

}  // namespace howard::language
