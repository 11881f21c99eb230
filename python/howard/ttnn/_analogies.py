# SPDX-License-Identifier: Apache-2.0
"""Names the elementwise functions whose programs differ from the emulator's kernel of their name.

The emulator's catalogue says which of its functions are timed as a neighbour, which has as many
operands and about as much arithmetic for a number. The summary of a run names those that a script
used.
"""

# The catalogue's name, where it is not ttnn's. These are no analogies.
SPELLED = {"typecast": "cast", "swish": "silu"}

# The catalogue has these for a number and a tensor; of two tensors they are timed as these.
NEAREST = {("rdiv", 2): "divide", ("rpow", 2): "multiply"}

# How many programs ttnn of December 2025 makes of these; all others are one.
PROGRAMS = {"digamma": 26, "lgamma": 37, "multigammaln": 155, "polygamma": 43, "nextafter": 6,
            "div_no_nan": 3, "floor_div": 9, "trunc_div": 2, "prelu": 3}
PROGRAMS_WITH_SCALAR = {"div_no_nan": 1, "floor_div": 2, "prelu": 1}
