// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace howard {

/// A nameless file in memory, to be handed to another process. No disk can be too full for it, and
/// nothing of it is left behind.
class MemoryFile {
 public:
  /// Throws Error when the system has no room for one.
  MemoryFile();
  /// Makes a file that holds `content`; the first read begins at its beginning.
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// Returns how many bytes it holds now.
  std::size_t size() const;
  /// Returns the last bytes that were written to the file, at most `most`. The position of the next
  /// read stays unchanged.
  std::string content(std::size_t most = std::string::npos) const;

 private:
  int descriptor_;
};

}  // namespace howard
