// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/terminal_text.h"
#include "base/text.h"

namespace howard {
namespace {

/// The ending of a file that is not written as a whole yet.
constexpr std::string_view kUnfinished = ".part";
/// Has the open files of this process, by which one without a name can be linked.
constexpr const char* kOwnFiles = "/proc/self/fd";

[[noreturn]] void fail(const std::string& attempted, const std::filesystem::path& path,
                       const std::string& reason) {
  throw Error({.attempted = attempted + " " + path.string(),
               .value = reason,
               .hint = "another place, or free space and permission there"});
}

/// Writes all of `content` to `descriptor`. Returns 0, or the errno of the call that failed.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Collects the pieces of a text and writes them in large parts.
class PieceWriter {
 public:
  explicit PieceWriter(int descriptor) : descriptor_(descriptor) {}

  void take(std::string_view piece) {
    constexpr std::size_t kPart = std::size_t{1} << 18;
    if (pieces_.empty() && piece.size() >= kPart) return write(piece);
    pieces_ += piece;
    if (pieces_.size() >= kPart) flush();
  }

  /// Writes what is left. Returns 0, or the errno of the first call that failed.
  int finish() {
    flush();
    return failure_;
  }

 private:
  void flush() {
    write(pieces_);
    pieces_.clear();
  }
  void write(std::string_view part) {
    if (failure_ == 0) failure_ = write_all(descriptor_, part);
  }

  int descriptor_;
  int failure_ = 0;
  std::string pieces_;
};

/// Writes the text of `source` to `descriptor`. Returns 0, or the errno of the call that failed.
int write_pieces(int descriptor, const TextSource& source) {
  PieceWriter writer(descriptor);
  source([&](std::string_view piece) { writer.take(piece); });
  return writer.finish();
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) fail("make folder", folder, failure.message());
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// Returns the descriptor of a file that has no name yet, and can get one; -1 if the system has
/// none such.
int nameless_file(const std::filesystem::path& folder) {
  if (::access(kOwnFiles, X_OK) != 0) return -1;
  return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/// A file in the folder of `path` that takes its place when it is whole. Where the file system can
/// make one without a name, nothing is left behind even if the process is killed while it writes.
class Replacement {
 public:
  explicit Replacement(const std::filesystem::path& path)
      : path_(path.string()), descriptor_(nameless_file(folder_of(path))) {
    if (descriptor_ >= 0) return;
    name_ = path_ + ".XXXXXX" + std::string(kUnfinished);
    descriptor_ = ::mkstemps(name_.data(), static_cast<int>(kUnfinished.size()));
    if (descriptor_ < 0) {
      failure_ = errno;
      name_.clear();
      return;
    }
    ::flock(descriptor_, LOCK_EX | LOCK_NB);  // it says that a process is writing here
    // mkstemps creates private files; others must be able to read results, as far as the umask
    // allows.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(descriptor_, 0666 & ~mask);
  }
  ~Replacement() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (failure_ != 0 && !name_.empty()) ::unlink(name_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  /// Writes the text durably and puts the file in its place. Returns 0, or the errno of the call
  /// that failed.
  int take(const TextSource& source) {
    if (failure_ != 0) return failure_;
    failure_ = ECANCELED;  // unless `source` returns
    failure_ = write_pieces(descriptor_, source);
    if (failure_ == 0 && ::fsync(descriptor_) != 0) failure_ = errno;
    if (failure_ == 0 && name_.empty()) give_name();
    if (::close(std::exchange(descriptor_, -1)) != 0 && failure_ == 0) failure_ = errno;
    if (failure_ == 0 && ::rename(name_.c_str(), path_.c_str()) != 0) failure_ = errno;
    return failure_;
  }

 private:
  /// A file cannot be linked over another one, so it has a name of its own for a moment.
  void give_name() {
    const std::string file = fmt::format("{}/{}", kOwnFiles, descriptor_);
    std::random_device random;
    do {
      name_ = fmt::format("{}.{:06x}{}", path_, random() & 0xFFFFFFU, kUnfinished);
      failure_ = 0;
      if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        failure_ = errno;
      }
    } while (failure_ == EEXIST);
    if (failure_ != 0) name_.clear();
  }

  std::string path_, name_;  ///< The latter is that of the unfinished file; empty if it has none.
  int descriptor_;
  int failure_ = 0;
};

/// Returns the file that `path` links to, or `path` itself if it is no link: the link's target is
/// written and the link is kept. An endless chain of links is returned as it is, and the system
/// then refuses it.
std::filesystem::path target_of(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // the limit that Linux has
  std::error_code failure;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, failure); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, failure);
    if (failure) break;
    path = path.parent_path() / target;
  }
  return path;
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view content) {
  write_file(path, [&](const TextSink& sink) { sink(content); });
}

void write_file(const std::filesystem::path& path, const TextSource& source) {
  if (path == "-") {
    TerminalText text(TerminalMarks::lines);
    const TextSource seen = [&](const TextSink& sink) {
      source([&](std::string_view piece) { sink(text.pass(piece)); });
      sink(text.rest());
    };
    // Another program gets each byte, a terminal what can be seen of them.
    if (const int failure =
            write_pieces(STDOUT_FILENO, ::isatty(STDOUT_FILENO) != 0 ? seen : source)) {
      fail("write", "standard output", std::strerror(failure));
    }
    return;
  }
  const std::filesystem::path target = target_of(path);
  make_folder(folder_of(target));
  // A device or a pipe (/dev/null, /dev/full, a FIFO) is written to and never replaced.
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const int failure = descriptor < 0 ? errno : write_pieces(descriptor, source);
    if (descriptor >= 0) ::close(descriptor);
    if (failure != 0) fail("write", path, std::strerror(failure));
    return;
  }
  if (const int failure = Replacement(target).take(source))
    fail("write", path, std::strerror(failure));
}

void remove_leftovers(const std::filesystem::path& path) {
  const std::string name = path.filename().string() + ".";
  constexpr std::size_t kRandom = 6;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), failure)) {
    const std::string other = entry.path().filename().string();
    const bool of_path = other.starts_with(name) && other.ends_with(kUnfinished) &&
                         other.size() == name.size() + kRandom + kUnfinished.size();
    if (!of_path) continue;
    const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  if (stream) content << stream.rdbuf();
  if (!stream || std::filesystem::is_directory(path)) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "not a readable file";
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(path, ignored);
    const auto neighbour = is_there ? std::nullopt : neighbour_of(path);
    throw Error({.attempted = "read " + path.string(),
                 .value = reason,
                 .accepted = "a readable file",
                 .hint = neighbour ? shell_word(*neighbour) : ""});
  }
  return std::move(content).str();
}

void require_writable_folder(const std::filesystem::path& folder) {
  make_folder(folder);
  std::string probe = (folder / ".writable.XXXXXX").string();
  const int descriptor = ::mkstemp(probe.data());
  if (descriptor < 0) fail("write into folder", folder, std::strerror(errno));
  ::close(descriptor);
  ::unlink(probe.c_str());
}

std::string file_name_of(std::string_view text) {
  constexpr std::string_view kOthers = "._+=-";
  // File systems allow 255, which leaves room for an extension and a suffix.
  constexpr std::size_t kLongest = 160;
  std::string name;
  bool is_exact = true;
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       kOthers.find(c) != kOthers.npos;
    if (c == '/') {
      name += "__";
    } else {
      name += c == ':' ? '=' : plain ? c : '_';
      is_exact = is_exact && (plain || c == ':');
    }
  }
  const bool is_special = name.empty() || name.find_first_not_of('.') == std::string::npos;
  if (is_exact && !is_special && name.size() <= kLongest) return name;
  name.resize(std::min(name.size(), kLongest));
  return fmt::format("{}_{:08x}", name, hash);
}

}  // namespace howard
