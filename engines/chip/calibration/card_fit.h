// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engines/chip/profiles/card.h"

namespace howard::calibration {

/// Says how far the emulator is from the calls of one kind of a card, whose times it has not seen:
/// each third of the card's calls is kept back in turn, and the others say what they can of it.
struct UnseenKind {
  std::string kind;
  std::vector<double> built_in;  ///< |emulated / measured - 1| of each call without the card,
  std::vector<double> error;     ///< and with what the other calls say.
};

/// Returns how the calls of a card differ from the emulator by kind, as a card says it: of a kind
/// with three calls or more, if that makes it better by a tenth for calls that it has not seen. A
/// factor is the mean of their logarithms with one call that is as the emulator says, which keeps
/// few calls from saying much.
std::vector<chip::CardKind> kinds_of(std::span<const chip::CardKernel> kernels);

/// Returns what other calls of the same shapes, and else such factors, do for calls that they have
/// not seen, by kind, in the order of names.
/// Calls are dealt out by their place among those of their kind, in the order of their words.
std::vector<UnseenKind> unseen(std::span<const chip::CardKernel> kernels);

/// Returns the two cards as one, without what they say of kinds: a call that both have has the mean
/// of their times by runs. Throws Error if they are of unlike chips or software.
chip::Card merged(chip::Card card, const chip::Card& other);

}  // namespace howard::calibration
