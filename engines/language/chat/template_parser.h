// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engines/language/chat/template_tree.h"

namespace howard::language {

/// Parses a template: texts, {{ }}, if, for, set, break and continue, and Hugging Face's
/// generation, which marks a part and does nothing. Throws Error, with the line, for another
/// statement, for what is no Jinja, and for what is nested more than some hundred levels deep.
TemplateBody parse_template(std::string_view text, const std::string& source);

}  // namespace howard::language
