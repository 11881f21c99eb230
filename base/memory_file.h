// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace howard {

/// A file that has no name and lies in memory, to hand to another process: no disk is too full for
/// it, and nothing of it is left behind.
class MemoryFile {
 public:
  /// Error when the system has no room for one.
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// The last bytes of what has been written to it, `most` at most. Where it is read from next does
  /// not change.
  std::string content(std::size_t most = std::string::npos) const;

 private:
  int descriptor_;
};

}  // namespace howard
