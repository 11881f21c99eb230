// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace howard {

/// Asks the system for pages of 2 MiB where memory that was not written yet is large. The first
/// write to each page interrupts the program, in a virtual machine for 2.5 us, which is more than
/// it takes to fill 4 KiB; and a pass over rows 8 KiB apart needs a page for each. Where the system
/// refuses, pages are as small as they were.
void prefer_large_pages(void* memory, std::size_t bytes);

/// As above, for what a vector has reserved.
template <class T>
void prefer_large_pages(std::vector<T>& reserved) {
  prefer_large_pages(reserved.data(), reserved.capacity() * sizeof(T));
}

}  // namespace howard
