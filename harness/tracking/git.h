// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace howard::tracking {

/// Asks a git checkout by way of the program git. Where there is no git or no checkout, every
/// answer is absent or empty.
class GitCheckout {
 public:
  /// `folder` is any folder of the checkout; empty: the working directory.
  explicit GitCheckout(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  /// Returns the full name of the commit that `name` means: a branch, a tag, HEAD, a shortened
  /// name.
  std::optional<std::string> commit(const std::string& name) const;
  /// Returns whether files that git knows have changes.
  bool is_dirty() const;
  /// Returns the branch that is checked out. A CI job has none; then it is what GITHUB_HEAD_REF,
  /// GITHUB_REF_NAME or CI_COMMIT_REF_NAME says.
  std::string branch() const;
  /// Returns the first parent of a commit.
  std::string parent(const std::string& commit) const;
  /// Returns the date of a commit in seconds since 1970; 0 if it is unknown.
  std::int64_t date(const std::string& commit) const;
  std::optional<std::string> merge_base(const std::string& a, const std::string& b) const;
  /// Returns `newest` and the commits before it by first parents, newest first.
  std::vector<std::string> first_parents(const std::string& newest) const;
  /// Returns the commits after `good` up to `bad`, by first parents, oldest first; empty if `good`
  /// is not among them.
  std::vector<std::string> between(const std::string& good, const std::string& bad) const;
  /// Returns the first line of a commit's message.
  std::string subject(const std::string& commit) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::optional<std::string> ask(std::vector<std::string> words) const;

  std::filesystem::path folder_;
};

}  // namespace howard::tracking
