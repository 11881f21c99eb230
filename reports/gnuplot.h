// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace howard::reports {

/// The gnuplot program on PATH; absent when there is none.
std::optional<std::filesystem::path> find_gnuplot();

/// Runs `script` with gnuplot in `folder` and waits for it. What gnuplot prints is dropped, and
/// nothing happens when it fails: look for the files it should have made.
void run_gnuplot(const std::filesystem::path& gnuplot, const std::filesystem::path& folder,
                 const std::string& script);

}  // namespace howard::reports
