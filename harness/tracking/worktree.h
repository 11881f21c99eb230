// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "harness/tracking/git.h"

namespace howard::tracking {

/// Makes a second working tree of a checkout in a temporary folder, in which commits are built. It
/// is removed at the end; what a build left in it stays from commit to commit, so that the next one
/// is quicker.
class Worktree {
 public:
  /// `git` must outlive it.
  explicit Worktree(const GitCheckout& git);
  ~Worktree();
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;

  /// Throws Error with git's words if it refuses.
  void check_out(const std::string& commit);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  const GitCheckout* git_;
  std::filesystem::path folder_;
  bool made_ = false;
};

}  // namespace howard::tracking
