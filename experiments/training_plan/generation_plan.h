// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/profiles/profile.h"
#include "engines/models/model_options.h"

namespace howard::experiments {

/// Asks what it takes to write the completions that an update of GRPO learns from.
struct GenerationQuestion {
  models::ModelOptions model;    ///< A whole llama with its vocabulary.
  std::int64_t completions = 1;  ///< Those of a chip, which are written together.
  std::int64_t tokens = 1;       ///< Of each completion; the prompt fills the rest of a sequence.
  float temperature = 1;         ///< 0: the likeliest token is taken, and no noise is drawn.
};

/// Holds times of programs that are known, as TTML's example of GRPO calls them: all prompts are
/// read at once, and then a token of each at a time, padded to a tile of rows, with a mask that the
/// host writes. A sequence of tokens that is drawn has the length that was asked for.
struct GenerationPlan {
  GenerationQuestion question;
  SimTime prefill;      ///< Reads the prompts and draws the first tokens.
  SimTime first, last;  ///< Of a token of each completion: the second one, and the last.
  Bytes cache;          ///< All keys and values.

  std::int64_t prompt() const { return question.model.sequence - question.tokens; }
  /// Returns the time of all tokens; it grows evenly from the second token to the last.
  SimTime whole() const {
    return prefill + SimTime::picoseconds((first + last).ps() * (question.tokens - 1) / 2);
  }
};

/// Throws Error for a model that CachedLlama does not take, and for completions that leave no room
/// for a prompt.
GenerationPlan plan_generation(const GenerationQuestion& question, const chip::Profiles& profiles);

/// Returns a line about a plan; a run makes it `times` times.
std::string generation_text(const GenerationPlan& plan, std::int64_t times);

}  // namespace howard::experiments
