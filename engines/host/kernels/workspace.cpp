// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/workspace.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard::host {
namespace {

void enlarge(LargePages& piece, Bytes size) {
  piece = LargePages();
  piece = LargePages(size);
  if (piece.get() != nullptr) return;
  throw Error({.attempted = "run a kernel on the host",
               .value = fmt::format("the system refuses {} bytes to work in", size.value()),
               .accepted = "what the system and the limits of the process (ulimit -v) leave",
               .hint = "smaller shapes"});
}

}  // namespace

void Workspace::require(Bytes own, Bytes common) {
  if (own > size_) {
    size_ = Bytes(0);
    for (LargePages& piece : pieces_) enlarge(piece, own);
    size_ = own;
  }
  if (common > common_size_) {
    common_size_ = Bytes(0);
    enlarge(common_, common);
    common_size_ = common;
  }
}

}  // namespace howard::host
