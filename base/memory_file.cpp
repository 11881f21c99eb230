// SPDX-License-Identifier: Apache-2.0
#include "base/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace howard {

MemoryFile::MemoryFile() : descriptor_(::memfd_create("howard", MFD_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw Error({.attempted = "make a file in memory",
                 .value = std::strerror(errno),
                 .hint = "a larger limit of open files (ulimit -n)"});
  }
}

MemoryFile::MemoryFile(std::string_view content) : MemoryFile() {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = ::pwrite(descriptor_, content.data() + done, content.size() - done,
                                   static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error({.attempted = "write a file in memory", .value = std::strerror(errno)});
    }
    done += static_cast<std::size_t>(count);
  }
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

std::size_t MemoryFile::size() const {
  struct stat facts {};
  return ::fstat(descriptor_, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

std::string MemoryFile::content(std::size_t most) const {
  const std::size_t all = size();
  std::string text(std::min(all, most), '\0');
  const std::size_t start = all - text.size();
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::pread(descriptor_, text.data() + done, text.size() - done,
                                  static_cast<off_t>(start + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

}  // namespace howard
