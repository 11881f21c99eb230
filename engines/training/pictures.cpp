// SPDX-License-Identifier: Apache-2.0
#include "engines/training/pictures.h"

#include <fmt/format.h>

#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "engines/language/tokens/token_ids.h"

namespace howard::training {
namespace {

constexpr const char* kIdxFiles =
    "a folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte, unpacked, or the word synthetic";

[[noreturn]] void refuse(const std::string& file, std::string value, std::string accepted,
                         std::string hint = "") {
  throw Error({.attempted = "read the pictures in " + file,
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

/// The bytes of an idx file, as items of one size.
struct IdxFile {
  std::string name, bytes;
  std::size_t first = 0;  ///< Where the values begin.
  std::size_t items = 0, size = 1;

  std::uint32_t value(std::size_t item, std::size_t at) const {
    return static_cast<unsigned char>(bytes[first + item * size + at]);
  }
};

std::size_t big_endian(const std::string& bytes, std::size_t at) {
  std::size_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    number = number << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

/// Reads an idx file of bytes: two zeros, 8 (bytes), the number of sizes, the sizes, the values.
IdxFile read_idx(const std::filesystem::path& folder, const std::string& begin, int dimensions) {
  std::filesystem::path file = folder / fmt::format("{}-idx{}-ubyte", begin, dimensions);
  const std::filesystem::path dotted = folder / fmt::format("{}.idx{}-ubyte", begin, dimensions);
  if (!std::filesystem::exists(file) && std::filesystem::exists(dotted)) file = dotted;
  if (!std::filesystem::exists(file)) {
    const bool packed = std::filesystem::exists(file.string() + ".gz");
    refuse(folder.string(), "there is no " + file.filename().string(), kIdxFiles,
           packed ? "gunzip " + file.string() + ".gz" : "--data synthetic");
  }
  IdxFile idx{.name = file.string(), .bytes = read_file(file)};
  idx.first = 4 + 4 * static_cast<std::size_t>(dimensions);
  const std::string head{'\0', '\0', '\x08', static_cast<char>(dimensions)};
  if (idx.bytes.size() < idx.first || !idx.bytes.starts_with(head)) {
    refuse(idx.name, "its first bytes are not those of the format",
           fmt::format("an idx file of bytes with {} sizes", dimensions));
  }
  idx.items = big_endian(idx.bytes, 4);
  for (std::size_t at = 8; at < idx.first; at += 4) idx.size *= big_endian(idx.bytes, at);
  const std::size_t values = idx.bytes.size() - idx.first;
  if (idx.items == 0 || idx.size == 0) {
    refuse(idx.name, fmt::format("its sizes say {} x {} values", idx.items, idx.size), "1 or more");
  }
  if (values % idx.size != 0 || values / idx.size != idx.items) {
    refuse(idx.name,
           fmt::format("{} values where its sizes say {} x {}", values, idx.items, idx.size),
           "as many values as the sizes say");
  }
  return idx;
}

/// Returns the samples of pictures and their labels.
std::vector<std::uint32_t> read_samples(const std::filesystem::path& folder,
                                        const std::string& begin,
                                        const models::ModelOptions& model) {
  const IdxFile pictures = read_idx(folder, begin + "-images", 3);
  const IdxFile labels = read_idx(folder, begin + "-labels", 1);
  if (std::cmp_not_equal(pictures.size, model.width)) {
    refuse(pictures.name, fmt::format("pictures of {} numbers", pictures.size),
           fmt::format("the input_features of the mlp_config, {}", model.width),
           fmt::format("--with input_features={}", pictures.size));
  }
  if (pictures.items != labels.items) {
    refuse(labels.name, fmt::format("{} labels of {} pictures", labels.items, pictures.items),
           "a label for each picture");
  }
  std::vector<std::uint32_t> samples;
  samples.reserve(pictures.items * (pictures.size + 1));
  for (std::size_t item = 0; item < pictures.items; ++item) {
    for (std::size_t at = 0; at < pictures.size; ++at) samples.push_back(pictures.value(item, at));
    const std::uint32_t label = labels.value(item, 0);
    if (std::cmp_greater_equal(label, model.vocabulary)) {
      refuse(
          labels.name, fmt::format("label {} of picture {}", label, item),
          fmt::format("labels below the output_features of the mlp_config, {}", model.vocabulary));
    }
    samples.push_back(label);
  }
  return samples;
}

/// Draws samples: the numbers of a class's pattern, of which a quarter is inverted.
std::vector<std::uint32_t> made_samples(std::span<const std::vector<bool>> patterns, int count,
                                        std::mt19937& random) {
  std::vector<std::uint32_t> samples;
  for (int i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint32_t>(random() % patterns.size());
    for (const bool bright : patterns[label]) {
      samples.push_back(bright != (random() % 4 == 0) ? 255 : 0);
    }
    samples.push_back(label);
  }
  return samples;
}

Pictures with_labels(std::vector<std::uint32_t> trained, std::vector<std::uint32_t> held_out,
                     const models::ModelOptions& model) {
  return {language::Corpus(std::move(trained),
                           std::make_shared<const language::TokenIds>(model.vocabulary)),
          std::move(held_out)};
}

}  // namespace

Pictures read_pictures(const std::filesystem::path& folder, const models::ModelOptions& model) {
  if (folder != kMadePictures) {
    std::vector<std::uint32_t> trained = read_samples(folder, "train", model);
    return with_labels(std::move(trained), read_samples(folder, "t10k", model), model);
  }
  constexpr int kTrained = 12'800;
  constexpr int kHeldOut = 1'280;
  std::mt19937 random(1);
  std::vector<std::vector<bool>> patterns(static_cast<std::size_t>(model.vocabulary));
  for (std::vector<bool>& pattern : patterns) {
    for (std::int64_t at = 0; at < model.width; ++at) pattern.push_back(random() % 5 == 0);
  }
  std::vector<std::uint32_t> trained = made_samples(patterns, kTrained, random);
  return with_labels(std::move(trained), made_samples(patterns, kHeldOut, random), model);
}

}  // namespace howard::training
