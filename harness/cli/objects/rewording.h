// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace howard::cli {

/// Returns the words of a command line with what users leave out:
/// - the command, where they begin with a file or a folder: "step.py" is "python step.py";
/// - the command that is meant, where another is given a file: "explain step.py" is
///   "python step.py";
/// - -c before the file of a training: "fit my.yaml" is "fit -c my.yaml";
/// - -a before an axis: "inference --model=llama-3.1-8b" and "inference model=llama-3.1-8b" are
///   "inference -a model=llama-3.1-8b".
/// Other words are returned as they are. If it `speaks`, it says on standard error what it took a
/// file for. Throws Error for a folder that holds neither a log nor results, and UsageError for a
/// file that is not there.
std::vector<std::string> reworded(std::span<const std::string> words, bool speaks);

}  // namespace howard::cli
