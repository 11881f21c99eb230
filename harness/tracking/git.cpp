// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/git.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "harness/tracking/command.h"

namespace howard::tracking {

std::optional<std::string> GitCheckout::ask(std::vector<std::string> words) const {
  words.insert(words.begin(), "git");
  try {
    const CommandOutcome outcome = run_program(words, folder_);
    if (outcome.status != 0) return std::nullopt;
    std::string text = outcome.out;
    while (text.ends_with('\n')) text.pop_back();
    return text;
  } catch (const Error&) {
    return std::nullopt;  // there is no git
  }
}

std::optional<std::string> GitCheckout::commit(const std::string& name) const {
  if (name.empty() || name.starts_with('-')) return std::nullopt;
  return ask({"rev-parse", "--verify", "--quiet", name + "^{commit}"});
}

bool GitCheckout::is_dirty() const {
  const auto changes = ask({"status", "--porcelain", "--untracked-files=no"});
  return changes && !changes->empty();
}

std::string GitCheckout::branch() const {
  const std::string here = ask({"symbolic-ref", "--quiet", "--short", "HEAD"}).value_or("");
  if (!here.empty()) return here;
  for (const char* const variable : {"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

std::string GitCheckout::parent(const std::string& commit) const {
  return ask({"rev-parse", "--verify", "--quiet", commit + "^1"}).value_or("");
}

std::int64_t GitCheckout::date(const std::string& commit) const {
  const std::string text = ask({"show", "-s", "--format=%ct", commit}).value_or("");
  return parse_integer(text).value_or(0);
}

std::optional<std::string> GitCheckout::merge_base(const std::string& a,
                                                   const std::string& b) const {
  return ask({"merge-base", a, b});
}

std::vector<std::string> GitCheckout::first_parents(const std::string& newest) const {
  const auto list = ask({"rev-list", "--first-parent", newest});
  return list && !list->empty() ? split(*list, '\n') : std::vector<std::string>();
}

std::vector<std::string> GitCheckout::between(const std::string& good,
                                              const std::string& bad) const {
  std::vector<std::string> commits = first_parents(bad);
  const auto found = std::ranges::find(commits, good);
  if (found == commits.end()) return {};
  commits.erase(found, commits.end());
  std::ranges::reverse(commits);
  return commits;
}

std::string GitCheckout::subject(const std::string& commit) const {
  return ask({"show", "-s", "--format=%s", commit}).value_or("");
}

}  // namespace howard::tracking
