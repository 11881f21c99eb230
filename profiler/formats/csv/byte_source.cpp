// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"

namespace howard::profiler {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* reason) {
  std::error_code ignored;
  const auto neighbour = std::filesystem::exists(path, ignored) ? std::nullopt : neighbour_of(path);
  throw Error({.attempted = "read " + path.string(),
               .value = reason,
               .accepted = "a readable file",
               .hint = neighbour ? shell_word(*neighbour) : ""});
}

}  // namespace

std::size_t TextBytes::read(std::span<char> buffer) {
  const std::size_t size = std::min(buffer.size(), rest_.size());
  std::copy_n(rest_.data(), size, buffer.data());
  rest_.remove_prefix(size);
  return size;
}

FileSource::FileSource(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(path, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    fail(path, "it is a folder");
  }
}

FileSource::~FileSource() { ::close(descriptor_); }

std::size_t FileSource::read(std::span<char> buffer) {
  while (true) {
    const ssize_t size = ::read(descriptor_, buffer.data(), buffer.size());
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR) fail(path_, std::strerror(errno));
  }
}

std::size_t PrefixedSource::read(std::span<char> buffer) {
  const std::size_t size = first_.read(buffer);
  return size > 0 ? size : rest_.read(buffer);
}

}  // namespace howard::profiler
