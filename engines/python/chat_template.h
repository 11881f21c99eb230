// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace howard::python {

/// How long filling in a template may take, and how many bytes it may make.
struct TemplateLimits {
  std::chrono::milliseconds time{30'000};
  std::size_t bytes = std::size_t{1} << 24;
};

/// Returns the text that the Jinja template `text` makes of `variables`, a JSON object. Jinja2
/// fills it in, as in Hugging Face's library, in its sandbox and in a process of its own. `source`
/// names the file of the template in messages. Throws Error, with the line, for what the template
/// refuses or Jinja2 does not know, when a limit is passed, and when Jinja2 is not installed.
std::string filled_template(std::string_view text, const std::string& source,
                            std::string_view variables, const TemplateLimits& limits = {});

}  // namespace howard::python
