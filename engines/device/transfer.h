// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard {

// A transfer is a program of two devices, one of which sends a tensor while the other receives it.
// Its other operand is the handle of a peer, one uint32, row-major; which device that is, is known
// to those who connect them.

/// Its operand is a tensor and its result the peer that it is sent to.
inline constexpr std::string_view kSend = "send";
/// Its operand is the peer that sends, and its result is a tensor of the same spec.
inline constexpr std::string_view kReceive = "receive";

}  // namespace howard
