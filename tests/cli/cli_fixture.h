// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace howard::cli {

struct Outcome {
  int status = -1;  ///< The exit status, or 128 + the signal.
  std::string out, err;
};

/// Returns the whole of a file; nothing if there is none.
std::string content(const std::filesystem::path& path);

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Runs the real program in a folder of the test's own.
class CliFixture : public ::testing::Test {
 protected:
  CliFixture() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    // What the host measures is kept for all tests, but not among the user's files.
    const auto caches = std::filesystem::path(::testing::TempDir()) / "howard_test_caches";
    ::setenv("XDG_CACHE_HOME", caches.c_str(), 0);
  }
  ~CliFixture() override { std::filesystem::remove_all(folder_); }

  /// Runs `run_experiment ARGUMENTS`, with `environment` before it.
  Outcome run(const std::string& arguments, const std::string& environment = "",
              const std::string& shell = "sh") const;

  void put(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                  ("howard_cli_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace howard::cli
