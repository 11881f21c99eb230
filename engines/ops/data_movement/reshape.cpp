// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement/reshape.h"

#include "engines/ops/check.h"

namespace howard::ops {

Program reshape(const Tensor& a, const Tensor& out) {
  if (a.spec().shape.elements() != out.spec().shape.elements()) {
    refuse("reshape", {a.spec(), out.spec()}, "as many elements");
  }
  require_output("reshape", out, {out.spec().shape, a.spec().dtype});
  return {.name = "reshape",
          .attributes = ReshapeAttributes{},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

Program to_layout(const Tensor& a, const Tensor& out) {
  const bool tilize = a.spec().layout == Layout::row_major;
  const std::string_view name = tilize ? "tilize" : "untilize";
  require_output(name, out,
                 {a.spec().shape, a.spec().dtype, tilize ? Layout::tile : Layout::row_major});
  return {.name = name,
          .attributes = LayoutAttributes{},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

Program to_memory(const Tensor& a, const Tensor& out) {
  require_output("to_memory", out, a.spec());
  return {.name = "to_memory",
          .attributes = LayoutAttributes{},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

}  // namespace howard::ops
