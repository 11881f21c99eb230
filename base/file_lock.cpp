// SPDX-License-Identifier: Apache-2.0
#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace howard {
namespace {

/// Says whether `file` still is what `descriptor` has open: who had the lock before may have
/// removed it in between.
bool is_open_file(const std::filesystem::path& file, int descriptor) {
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::stat(file.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

std::unique_ptr<FileLock> FileLock::take(const std::filesystem::path& file) {
  while (true) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      throw Error({.attempted = "lock " + file.string(),
                   .value = std::strerror(errno),
                   .hint = "another place, or permission there"});
    }
    const bool is_taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && is_open_file(file, descriptor)) {
      return std::unique_ptr<FileLock>(new FileLock(file, descriptor));
    }
    ::close(descriptor);
    if (is_taken) return nullptr;
  }
}

FileLock::FileLock(std::filesystem::path file, int descriptor)
    : file_(std::move(file)), descriptor_(descriptor) {}

FileLock::~FileLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

}  // namespace howard
