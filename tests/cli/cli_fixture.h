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
  /// Puts my.yaml, a training of one step, and model.yaml, its model, a GPT-2 of one block.
  void put_training() const {
    put("my.yaml",
        "training_config:\n  batch_size: 1\n  tokenizer_type: char\n  max_steps: 1\n"
        "  model_config: model.yaml\n");
    put("model.yaml",
        "transformer_config:\n  model_type: gpt2\n  num_heads: 2\n  embedding_dim: 64\n"
        "  num_blocks: 1\n  max_sequence_length: 32\n  vocab_size: 96\n  dropout_prob: 0.0\n");
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                  ("howard_cli_" + std::to_string(::getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace howard::cli
