// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {

/// Has files of TTML for a small model and a text.
class Ttml : public CliFixture {
 protected:
  Ttml() {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "a rose is a rose is a rose. ";
    put("text", text);
    put("training.yaml",
        "training_config:\n"
        "  project_name: roses\n"
        "  batch_size: 2\n"
        "  max_steps: 4\n"
        "  learning_rate: 0.003\n"
        "  tokenizer_type: char\n"
        "  data_path: text\n"
        "  model_config: model.yaml\n");
    put("model.yaml", model("gpt2", ""));
  }

  static std::string model(const std::string& type, const std::string& more) {
    return "transformer_config:\n  model_type: " + type +
           "\n  num_heads: 2\n  embedding_dim: 64\n  num_blocks: 1\n  max_sequence_length: 32\n"
           "  vocab_size: 96\n" +
           more;
  }
  Outcome train(const std::string& arguments) const {
    return run("train -c training.yaml --threads 1 --no-progress " + arguments);
  }
};

}  // namespace howard::cli
