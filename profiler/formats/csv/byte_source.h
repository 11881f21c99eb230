// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace howard::profiler {

/// Gives a reader of a format its bytes in order, each once.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills the beginning of `buffer`, which is not empty, and returns the number of bytes; 0 at the
  /// end.
  virtual std::size_t read(std::span<char> buffer) = 0;
};

/// Reads a text in memory, which must outlive the source.
class TextBytes final : public ByteSource {
 public:
  explicit TextBytes(std::string_view text) : rest_(text) {}
  std::size_t read(std::span<char> buffer) override;

 private:
  std::string_view rest_;
};

/// Reads a file or a pipe. It does not map the file, because a mapped file that another program
/// cuts short kills its reader.
class FileSource final : public ByteSource {
 public:
  /// Throws Error if `path` cannot be opened or is a folder.
  explicit FileSource(const std::filesystem::path& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  /// Throws Error if the system refuses.
  std::size_t read(std::span<char> buffer) override;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Reads `first` and then what is left of `rest`, for a source whose beginning was looked at. Both
/// must outlive it.
class PrefixedSource final : public ByteSource {
 public:
  PrefixedSource(std::string_view first, ByteSource& rest) : first_(first), rest_(rest) {}
  std::size_t read(std::span<char> buffer) override;

 private:
  TextBytes first_;
  ByteSource& rest_;
};

}  // namespace howard::profiler
