// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// `report DIR [OPTIONS]`, whose manual is report_help.md; argv[0] is "report". The exit status.
/// UsageError, or Error for a folder or file that can not be read.
int report(int argc, const char* const* argv);

}  // namespace howard::cli
