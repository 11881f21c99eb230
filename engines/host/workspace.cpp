// SPDX-License-Identifier: Apache-2.0
#include "engines/host/workspace.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard::host {

void Workspace::require(Bytes size) {
  if (size <= size_) return;
  size_ = Bytes(0);
  for (AlignedBytes& piece : pieces_) {
    piece.reset();
    piece = allocate_aligned(size);
    if (piece != nullptr) continue;
    throw Error({.attempted = "run a kernel on the host",
                 .value = fmt::format("the system refuses {} bytes to work in", size.value()),
                 .accepted = "what the system and the limits of the process (ulimit -v) leave",
                 .hint = "smaller shapes"});
  }
  size_ = size;
}

}  // namespace howard::host
