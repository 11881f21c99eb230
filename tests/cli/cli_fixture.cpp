// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/cli_fixture.h"

#include <sys/wait.h>

#include <cstdlib>
#include <sstream>

namespace howard::cli {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Outcome CliFixture::run(const std::string& arguments, const std::string& environment,
                        const std::string& shell) const {
  const std::string command = "cd '" + folder_.string() + "' && " + environment +
                              " '" HOWARD_RUN_EXPERIMENT "' " + arguments +
                              " >stdout 2>stderr </dev/null";
  put("command", command);
  const int status = std::system((shell + " '" + (folder_ / "command").string() + "'").c_str());
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = content(folder_ / "stdout"),
          .err = content(folder_ / "stderr")};
}

}  // namespace howard::cli
