// SPDX-License-Identifier: Apache-2.0
#include "engines/training/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/text.h"
#include "engines/training/settings.h"

namespace howard::training {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

constexpr std::string_view kMagic = "HOWARDCK";
constexpr std::uint32_t kVersion = 1;
/// Begins a line of older checkpoints, on which nothing depends any more.
constexpr std::string_view kWays = "product_ways=";
constexpr std::size_t kHeader = kMagic.size() + sizeof(kVersion) + sizeof(std::uint64_t);

/// Builds a file in one piece of memory, because large models leave no room for two.
class Writer {
 public:
  explicit Writer(std::size_t capacity) { bytes_.reserve(capacity); }

  template <class Number>
  requires std::is_arithmetic_v<Number>
  void put(Number number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number)); }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    bytes_ += text;
  }
  void put(const std::vector<float>& values) {
    put(std::uint64_t{values.size()});
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }

  /// Begins the content; its length is filled in by end_content().
  void begin_content() {
    bytes_ += kMagic;
    put(kVersion);
    put(std::uint64_t{0});
  }
  void end_content() {
    const std::uint64_t length = bytes_.size() - kHeader;
    std::memcpy(&bytes_[kHeader - sizeof(length)], &length, sizeof(length));
    put(checksum(bytes_));
  }

  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a Writer wrote. The checksum was correct, so content that still does not fit was
/// written by something else; that throws Error too.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  template <class Number>
  Number number() {
    Number result{};
    std::memcpy(&result, next(sizeof(result)).data(), sizeof(result));
    return result;
  }
  /// Returns how many things follow that have at least `least` bytes each.
  std::size_t count(std::size_t least) {
    const auto result = number<std::uint64_t>();
    if (result > bytes_.size() / least) fail();
    return result;
  }
  std::string text() { return std::string(next(count(1))); }
  std::vector<float> floats() {
    std::vector<float> result(count(sizeof(float)));
    const std::string_view bytes = next(result.size() * sizeof(float));
    // An empty vector has no address, which must not be passed to memcpy.
    if (!result.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  void finish() const {
    if (!bytes_.empty()) fail();
  }

 private:
  std::string_view next(std::size_t size) {
    if (size > bytes_.size()) fail();
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
  }
  [[noreturn]] void fail() const {
    throw Error({.attempted = "read checkpoint " + source_,
                 .value = "its parts do not fit its length",
                 .accepted = "a checkpoint that train wrote"});
  }

  std::string_view bytes_;
  std::string source_;
};

std::string recipe_text(const Recipe& recipe) {
  std::string text;
  for_each_setting(recipe, [&](const Setting& setting, const auto&) {
    text += fmt::format("{}={}\n", setting.name, field_text(recipe, setting.name));
  });
  return text;
}

void parse_settings(std::string_view text, Checkpoint& checkpoint) {
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line.starts_with(kWays)) continue;
    const std::size_t equals = line.find('=');
    set_field(checkpoint.recipe, line.substr(0, equals),
              equals == std::string::npos ? "" : line.substr(equals + 1));
  }
}

/// Returns what lies between the header and the checksum. Throws Error unless header and checksum
/// are right.
std::string_view require_whole(std::string_view bytes, const std::string& source) {
  const auto fail = [&](std::string value, std::string accepted) {
    throw Error({.attempted = "read checkpoint " + source,
                 .value = std::move(value),
                 .accepted = std::move(accepted),
                 .hint = "an earlier copy, or training anew into another file"});
  };
  if (!bytes.starts_with(kMagic.substr(0, bytes.size())) || bytes.empty()) {
    fail("it is none", "a file that train wrote");
  }
  const std::string whole = "a whole file";
  if (bytes.size() < kHeader) fail("it is truncated", whole);
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof(version));
  if (version != kVersion) {
    fail(fmt::format("version {}", version), fmt::format("version {}", kVersion));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + kMagic.size() + sizeof(version), sizeof(length));
  const std::uint64_t behind = bytes.size() - kHeader;
  if (behind < sizeof(std::uint32_t) || behind - sizeof(std::uint32_t) != length) {
    fail(fmt::format("{} bytes where its header says {}, truncated or damaged", bytes.size(),
                     length + kHeader + sizeof(std::uint32_t)),
         whole);
  }
  std::uint32_t written = 0;
  std::memcpy(&written, bytes.data() + kHeader + length, sizeof(written));
  if (written != checksum(bytes.substr(0, kHeader + length))) {
    fail("its checksum is wrong: bytes have changed", whole);
  }
  return bytes.substr(kHeader, length);
}

}  // namespace

std::string checkpoint_bytes(const Checkpoint& checkpoint) {
  std::size_t capacity = std::size_t{1} << 16;  // more than everything but the tensors needs
  for (const NamedValues& tensor : checkpoint.tensors) {
    capacity += 2 * sizeof(std::uint64_t) + tensor.name.size();
    capacity += tensor.values.size() * sizeof(float);
  }
  Writer file(capacity);
  file.begin_content();
  file.put(recipe_text(checkpoint.recipe));
  file.put(checkpoint.step);
  file.put(checkpoint.text_checksum);
  file.put(std::uint64_t{checkpoint.characters.size()});
  for (const std::string& character : checkpoint.characters) file.put(character);
  file.put(std::uint64_t{checkpoint.tensors.size()});
  for (const NamedValues& tensor : checkpoint.tensors) {
    file.put(tensor.name);
    file.put(tensor.values);
  }
  file.end_content();
  return std::move(file).take();
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& source) {
  ByteReader reader(require_whole(bytes, source), source);
  Checkpoint checkpoint;
  parse_settings(reader.text(), checkpoint);
  checkpoint.step = reader.number<std::int64_t>();
  checkpoint.text_checksum = reader.number<std::uint32_t>();
  checkpoint.characters.resize(reader.count(sizeof(std::uint64_t)));
  for (std::string& character : checkpoint.characters) character = reader.text();
  checkpoint.tensors.resize(reader.count(2 * sizeof(std::uint64_t)));
  for (NamedValues& tensor : checkpoint.tensors) {
    tensor.name = reader.text();
    tensor.values = reader.floats();
  }
  reader.finish();
  return checkpoint;
}

void require_same_run(const Checkpoint& checkpoint, const Recipe& recipe,
                      std::uint32_t text_checksum, const std::vector<std::string>& characters) {
  const auto fail = [](std::string value, std::string accepted) {
    throw Error({.attempted = "resume a training run",
                 .value = std::move(value),
                 .accepted = std::move(accepted)});
  };
  for_each_setting(recipe, [&](const Setting& setting, const auto&) {
    const std::string_view name = setting.name;
    const std::string theirs = field_text(checkpoint.recipe, name);
    if (const std::string ours = field_text(recipe, name); name != "steps" && ours != theirs) {
      fail(fmt::format("{} {}", name, ours), fmt::format("the checkpoint's {}", theirs));
    }
  });
  if (checkpoint.text_checksum != text_checksum || checkpoint.characters != characters) {
    fail("another text", "the text that the checkpoint was trained on");
  }
}

bool is_finite(const NamedValues& tensor) {
  return std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); });
}

void require_finite(const NamedValues& tensor, std::int64_t step) {
  if (is_finite(tensor)) return;
  throw Error(
      {.attempted = "train",
       .value = fmt::format("a number of {} that is not finite after step {}", tensor.name, step),
       .accepted = "finite losses and parameters",
       .hint = "a smaller learning rate, from the last checkpoint"});
}

const std::vector<float>& saved_values(const Checkpoint& checkpoint, std::string_view name,
                                       std::int64_t rows, std::int64_t columns) {
  const auto found = std::ranges::find(checkpoint.tensors, name, &NamedValues::name);
  if (found != checkpoint.tensors.end() && std::ssize(found->values) == rows * columns) {
    return found->values;
  }
  throw Error({.attempted = "resume a training run",
               .value = fmt::format("no {} of {}x{}", name, rows, columns),
               .accepted = "the tensors of this model, on a mesh that rounds the vocabulary up to "
                           "the same"});
}

}  // namespace howard::training
