// SPDX-License-Identifier: Apache-2.0
//
// C++ over the installed library: what a product takes of each core's L1.
#include <howard/op.h>

#include <iostream>

int main() {
  const howard::query::OpModel model({.eth_dispatch = true});
  const howard::TensorSpec factor{{2048, 2048}};
  std::cout << model.answer({.op = "matmul", .inputs = {factor, factor}})->circular_buffers.value()
            << '\n';
}
