// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "engines/program/tensor_spec.h"

namespace howard::python {

/// Returns what a tensor takes of each of so many banks: whole pages, rounded as tt-metal rounds.
std::int64_t bytes_in_bank(const TensorSpec& spec, std::int64_t banks);

/// Says where buffers lie within a bank, as tt-metal's allocator places them: first fit, from the
/// bottom of DRAM up and from the top of L1 down. All banks are alike. A buffer that is made after
/// one of its size was freed gets its address.
class BankAddresses {
 public:
  enum class Order : std::uint8_t { upwards, downwards };

  BankAddresses(std::int64_t bottom, std::int64_t top, Order order);

  /// Returns the address of a new buffer, which is `top` if holes are too small for it: memory is
  /// counted elsewhere, as a whole.
  std::int64_t take(std::int64_t bytes);
  void give_back(std::int64_t address);

 private:
  std::int64_t top_;
  Order order_;
  std::map<std::int64_t, std::int64_t> holes_;            ///< Address and size.
  std::unordered_map<std::int64_t, std::int64_t> taken_;  ///< The same of buffers.
};

}  // namespace howard::python
