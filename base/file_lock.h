// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

namespace howard {

/// Keeps other processes, and other locks of this one, from a place as long as it lives. The system
/// ends the lock of a process that is killed; the file that it leaves behind keeps nobody away.
class FileLock {
 public:
  /// Makes `file` if it is not there, and locks it. Returns null if another has it. Throws Error
  /// with the system's reason when the file cannot be made. A file system that has no locks keeps
  /// nobody away.
  static std::unique_ptr<FileLock> take(const std::filesystem::path& file);
  /// Removes the file.
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  FileLock(std::filesystem::path file, int descriptor);

  std::filesystem::path file_;
  int descriptor_;
};

}  // namespace howard
