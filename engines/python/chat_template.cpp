// SPDX-License-Identifier: Apache-2.0
#include "engines/python/chat_template.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include <sys/wait.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/memory_file.h"
#include "engines/python/installation.h"

namespace howard::python {
namespace {

using nlohmann::ordered_json;

/// The status of the script when there is no Jinja2.
constexpr int kNotInstalled = 3;
constexpr std::size_t kMostReason = 2000;

[[noreturn]] void refuse(const std::string& source, std::string value, std::string accepted,
                         std::string hint) {
  throw Error({.attempted = "fill in the chat template of " + source,
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

[[noreturn]] void refuse_without_jinja(const std::string& source, const std::string& what) {
  refuse(source, what, "", "to install python3-jinja2, or a prompt without a chat");
}

}  // namespace

std::string filled_template(std::string_view text, const std::string& source,
                            std::string_view variables, const TemplateLimits& limits) {
  const auto python = find_installation();
  if (!python) refuse_without_jinja(source, "Python is not there");
  const ordered_json wanted{
      {"template", text}, {"variables", ordered_json::parse(variables)}, {"most", limits.bytes}};
  // A byte that is no UTF-8 becomes the character that stands for one.
  const MemoryFile input(json_dump(wanted));
  const MemoryFile output, errors;
  ChildProcess child(
      {.name = "Jinja2",
       .words = {python->interpreter.string(), (python->folder / "chat_template.py").string()},
       .environment = {},
       .folder = {},
       .descriptors = {input.descriptor(), output.descriptor(), errors.descriptor()}});
  const auto status = child.wait(ChildProcess::Clock::now() + limits.time);
  const std::string accepted = "a template that Jinja2 fills in";
  if (!status)
    refuse(source, fmt::format("it takes more than {} s", limits.time.count() / 1000), accepted,
           "");
  if (status == 0) {
    std::string made = output.content(limits.bytes + 1);
    if (made.size() <= limits.bytes) return made;
    refuse(source, "it makes a text that is too long",
           fmt::format("{} bytes at most", limits.bytes), "");
  }
  std::string reason = errors.content(kMostReason);
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kNotInstalled) {
    refuse_without_jinja(source, "Python has no Jinja2 (" + reason + ")");
  }
  refuse(source, reason.empty() ? ending_of(*status) : reason, accepted, "");
}

}  // namespace howard::python
