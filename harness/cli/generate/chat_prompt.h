// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/cli/generate/generate_options.h"

namespace howard::cli {

/// What a model reads of a conversation.
struct ChatPrompt {
  std::string text;  ///< Up to where the model's answer begins.
  std::string end;   ///< The text of the token that ends an answer; empty if no file says it.
};

/// Puts the messages, and the prompt as the last of them, into the model's chat template. The
/// template is that of --chat-template, or it stands beside the weights. Throws Error for files
/// that are missing or malformed, and for what the template refuses.
ChatPrompt chat_prompt(const GenerateOptions& options);

}  // namespace howard::cli
