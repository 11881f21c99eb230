// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engines/language/chat/tokenizer_config.h"

namespace howard::language {

/// Returns the variables of a chat template, as a JSON object: the marks of the tokenizer, and the
/// messages of a conversation that the model is to answer. `text` is a JSON list of objects that
/// have a role and a content, both texts, or an object with such a list as its member "messages";
/// other members of a message are kept. `prompt` is a user's message behind them. Either of the two
/// may be empty, but not both. `source` names the file of `text` in messages. Throws Error, with
/// the place, for anything else.
std::string chat_variables(std::string_view text, const std::string& source,
                           const std::string& prompt, const TokenizerConfig& config);

}  // namespace howard::language
