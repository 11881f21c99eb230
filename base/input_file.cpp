// SPDX-License-Identifier: Apache-2.0
#include "base/input_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace howard {

namespace fs = std::filesystem;

std::optional<std::string> neighbour_of(const fs::path& path) {
  constexpr std::size_t kMostLookedAt = 2000;
  const fs::path folder = path.parent_path();
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, failure), end;
       !failure && entry != end && names.size() < kMostLookedAt; entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  const auto name = closest(path.filename().string(), names);
  if (!name || *name == path.filename()) return std::nullopt;
  return (folder / *name).string();
}

std::string beginning_of(const fs::path& path, std::size_t size) {
  // Small files are many, and 16 MiB for each take longer than reading them.
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  while (stream && text.size() < size) {
    const std::size_t before = text.size();
    text.resize(std::min(size, std::max(kBlock, 2 * before)));
    stream.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  }
  return text;
}

std::string read_settings_file(const fs::path& path) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  std::string text = beginning_of(path, kMost + 1);
  if (text.empty()) return read_file(path);  // it says why there is none
  if (text.size() <= kMost) return text;
  throw Error({.attempted = fmt::format("read the settings in {}", path.string()),
               .value = "it has more than 16 MiB",
               .accepted = "a file of settings, as people write them"});
}

}  // namespace howard
