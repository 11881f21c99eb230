// SPDX-License-Identifier: Apache-2.0
//
// This is for a build without MPI, in which there is only one process.

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/check.h"
#include "base/error.h"
#include "harness/cli/sharing/launched_processes.h"
#include "harness/cli/sharing/ranks.h"

namespace howard::cli {

class Ranks::Impl {
 public:
  bool agreed = false;
};

Ranks::Ranks() : impl_(std::make_unique<Impl>()) {
  if (launched_processes() == 1) return;
  throw Error({.attempted = "share a run",
               .value = fmt::format("{} processes were started, and this build has no MPI: each "
                                    "would run everything",
                                    launched_processes()),
               .accepted = "one process",
               .hint = "without mpirun, or install libopenmpi-dev and configure the build again"});
}

Ranks::~Ranks() = default;

int Ranks::size() const { return 1; }
int Ranks::rank() const { return 0; }
bool Ranks::is_first() const { return true; }
bool Ranks::has_agreed() const { return impl_->agreed; }

int Ranks::cores() const {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::optional<int> Ranks::agree(bool ready, std::string_view /*plan*/) {
  impl_->agreed = true;
  return ready ? std::nullopt : std::optional(0);
}

void Ranks::send(int /*to*/, int /*topic*/, std::string_view /*text*/) {
  HOWARD_CHECK(false, "there is another rank to send to");
}

std::optional<Ranks::Message> Ranks::receive(int /*topic*/) { return std::nullopt; }

}  // namespace howard::cli
