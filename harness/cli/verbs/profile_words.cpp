// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/profile_words.h"

namespace howard::cli {

std::vector<std::string> profile_words(const chip::ProfileChoice& choice) {
  std::vector<std::string> words;
  for (const std::string& profile : choice.profiles) {
    words.insert(words.end(), {"--" + chip::kind_of(profile), profile});
  }
  for (const std::string& setting : choice.settings) words.insert(words.end(), {"--set", setting});
  return words;
}

}  // namespace howard::cli
