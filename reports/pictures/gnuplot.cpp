// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <gnuplot-iostream.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "base/child_process.h"
#include "base/error.h"
#include "base/memory_file.h"
#include "base/text.h"

namespace howard::reports {
namespace {

/// It follows the standard streams.
constexpr int kFirstOutput = 3;
constexpr std::size_t kMostErrorText = 2000;

[[noreturn]] void fail(const std::string& reason) {
  throw Error({.attempted = "draw with gnuplot", .value = reason});
}

/// Puts the script where gnuplot reads it, at its beginning.
void write_script(const MemoryFile& file, const std::string& script) {
  // fclose() closes what it is given, so it gets a copy. A pipe would not do, because gnuplot may
  // end before it has read everything.
  std::FILE* const stream = ::fdopen(::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0), "w");
  if (stream == nullptr) fail("there is no room for an open file");
  {
    gnuplotio::Gnuplot commands(stream);
    commands << script << std::flush;
  }
  ::lseek(file.descriptor(), 0, SEEK_SET);
}

/// Returns what gnuplot said last, because it ends at the first mistake.
std::string last_words(const MemoryFile& words) {
  const std::vector<std::string> lines = split(words.content(kMostErrorText), '\n');
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::size_t start = lines[i].find_first_not_of(' ');
    if (start != std::string::npos) return lines[i].substr(start);
  }
  return "";
}

}  // namespace

std::optional<std::filesystem::path> find_gnuplot() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    const std::filesystem::path program = std::filesystem::path(folder) / "gnuplot";
    std::error_code ignored;
    const bool file = std::filesystem::is_regular_file(program, ignored);
    if (!folder.empty() && file && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

std::string gnuplot_output(std::size_t number) {
  return "/dev/fd/" + std::to_string(kFirstOutput + static_cast<int>(number));
}

std::vector<std::string> draw_with_gnuplot(const std::filesystem::path& gnuplot,
                                           const std::filesystem::path& folder,
                                           const std::string& script, std::size_t count,
                                           std::chrono::milliseconds limit) {
  const MemoryFile commands;
  const MemoryFile words;
  std::deque<MemoryFile> outputs(count);
  write_script(commands, script);
  std::vector<int> descriptors{commands.descriptor(), words.descriptor(), words.descriptor()};
  for (const MemoryFile& output : outputs) descriptors.push_back(output.descriptor());
  ChildProcess process({.name = "gnuplot",
                        .words = {std::filesystem::absolute(gnuplot).string()},
                        .environment = {},
                        .folder = folder,
                        .descriptors = descriptors});
  const auto status = process.wait(ChildProcess::Clock::now() + limit);
  if (!status) {
    fail(fmt::format("it was still drawing after {:g} s",
                     1e-3 * static_cast<double>(limit.count())));
  }
  std::vector<std::string> pictures;
  for (const MemoryFile& output : outputs) pictures.push_back(output.content());
  const bool complete = std::ranges::none_of(pictures, &std::string::empty);
  if (*status == 0 && complete) return pictures;
  const std::string message = last_words(words);
  const std::string ending = *status == 0 ? "it has drawn nothing" : ending_of(*status);
  fail(ending + (message.empty() ? "" : ": " + message));
}

}  // namespace howard::reports
