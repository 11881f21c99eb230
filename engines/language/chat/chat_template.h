// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engines/language/chat/template_tree.h"

namespace howard::language {

/// A chat template of Hugging Face's library, which makes the text that a model reads of messages.
/// It understands the part of Jinja that these templates use (template_parser.h lists the
/// statements, template_functions.h has the functions). What it computes are texts, numbers, lists
/// and objects alone; steps and sizes are bounded, and nothing outside of the template is reached.
class ChatTemplate {
 public:
  /// `source` names the file in messages. Throws Error, with the line, as parse_template() does,
  /// and for a text of more than 1 MiB.
  ChatTemplate(std::string_view text, std::string source);

  /// Returns the text for variables such as "messages". Throws Error, with the line, for what the
  /// template refuses itself (raise_exception), for a name of a filter, a test or a function that
  /// is not built here, and for a million steps or 16 MiB.
  std::string text(const std::map<std::string, ChatValue>& variables) const;

 private:
  std::string source_;
  TemplateBody body_;
};

}  // namespace howard::language
