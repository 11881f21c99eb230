// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engines/language/chat/chat_template.h"
#include "engines/language/chat/tokenizer_config.h"

namespace howard::language {

/// Reads the messages of a conversation: a list of objects that have a role and a content, both
/// texts, or an object with such a list as its member "messages". Other members of a message are
/// kept for the template. Throws Error, with the place, for anything else and for no message.
ChatJson parse_chat_messages(std::string_view text, const std::string& source);

/// Returns the text that a model reads of messages, up to where its answer begins.
std::string chat_text(const ChatTemplate& format, const TokenizerConfig& config,
                      const ChatJson& messages);

}  // namespace howard::language
