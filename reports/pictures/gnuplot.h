// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace howard::reports {

/// Returns the gnuplot program on PATH; absent if there is none.
std::optional<std::filesystem::path> find_gnuplot();

/// Returns what a script calls the picture of that number in `set output`. The picture then goes to
/// us, and not to a disk that may be full or to a file that is half written when somebody looks.
std::string gnuplot_output(std::size_t number);

/// Runs `script` with gnuplot in `folder` and returns the pictures that it has drawn into the
/// outputs 0 to `count` - 1. Our interrupts do not reach it. Throws Error with gnuplot's words if a
/// picture is missing, or if it takes longer than `limit`; a picture takes a tenth of a second.
std::vector<std::string> draw_with_gnuplot(
    const std::filesystem::path& gnuplot, const std::filesystem::path& folder,
    const std::string& script, std::size_t count,
    std::chrono::milliseconds limit = std::chrono::seconds(60));

}  // namespace howard::reports
