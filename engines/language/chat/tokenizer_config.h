// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace howard::language {

/// Holds what a chat needs of a tokenizer_config.json of Hugging Face's library.
struct TokenizerConfig {
  std::optional<std::string> chat_template;  ///< The text of the template, if the file has one.
  std::map<std::string, std::string> marks;  ///< Texts such as that of "bos_token", by their names.
};

/// Reads a tokenizer_config.json. Of several templates it takes the one that is called "default".
/// `source` names the file in messages. Throws Error for what is no such file.
TokenizerConfig parse_tokenizer_config(std::string_view text, const std::string& source);

}  // namespace howard::language
