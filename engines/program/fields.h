// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json_node.h"
#include "engines/program/attributes.h"

namespace howard {

/// Reads the fields of an op from the members of a JSON object. Fields that are missing or null
/// keep their values. Throws Error for a member that is no field of the op, and for a value that
/// the field cannot have.
void read_fields(Attributes& attributes, const JsonNode& object);
/// Reads the fields from a text like "transpose_a:fidelity=HiFi4:block=2,8,2", in which a flag
/// needs no value.
void read_fields(Attributes& attributes, std::string_view text);

/// Returns the names of the op's fields.
std::vector<std::string_view> field_names(const Attributes& attributes);

/// Returns the op of that name with the fields of a JSON object; an empty text is one without
/// members. Throws Error as above, and when there is no such op.
Attributes parse_attributes(std::string_view name, std::string_view json);

}  // namespace howard
