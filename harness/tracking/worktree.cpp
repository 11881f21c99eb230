// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/worktree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <random>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "harness/tracking/command.h"

namespace howard::tracking {

Worktree::Worktree(const GitCheckout& git)
    : git_(&git),
      folder_(std::filesystem::temp_directory_path() /
              fmt::format("howard_bisect_{}_{:08x}", ::getpid(), std::random_device()())) {}

Worktree::~Worktree() {
  if (!made_) return;
  try {
    run_program({"git", "worktree", "remove", "--force", folder_.string()}, git_->folder());
  } catch (const std::exception&) {
    // What is left is removed below; git forgets it by itself (git worktree prune).
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Worktree::check_out(const std::string& commit) {
  const CommandOutcome outcome =
      made_ ? run_program({"git", "checkout", "--quiet", "--force", "--detach", commit}, folder_)
            : run_program({"git", "worktree", "add", "--detach", folder_.string(), commit},
                          git_->folder());
  if (outcome.status == 0) {
    made_ = true;
    return;
  }
  throw Error({.attempted = "check out " + commit.substr(0, 12),
               .value = last_line(outcome.err),
               .accepted = "a commit that git can check out",
               .hint = "git worktree list"});
}

}  // namespace howard::tracking
