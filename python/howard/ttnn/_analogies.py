# SPDX-License-Identifier: Apache-2.0
"""Names the elementwise functions that the emulator has no kernel for, and what they are timed as.

All others have a kernel of their own name in the emulator's catalogue. A function that is named
here takes as long as its nearest neighbour, which has as many operands and about as much arithmetic
for a number. The summary of a run names those that a script used.
"""

# The catalogue's name, where it is not ttnn's. These are no analogies.
SPELLED = {"typecast": "cast", "gelu_approx": "gelu", "swish": "silu"}

# The nearest kernel, by the number of values.
NEAREST = {
    **dict.fromkeys("bitwise_not bitcast alt_complex_rotate90".split(), "neg"),
    **dict.fromkeys("digamma lgamma multigammaln polygamma".split(), "log"),
    **dict.fromkeys("""bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
                    logical_left_shift logical_right_shift""".split(), "maximum"),
    **dict.fromkeys("gcd lcm".split(), "remainder"),
    **dict.fromkeys("div_no_nan floor_div trunc_div rdiv".split(), "divide"),
    **dict.fromkeys("nextafter prelu rpow".split(), "multiply"),
}

# How many programs ttnn of December 2025 makes of these; all others are one.
PROGRAMS = {"digamma": 26, "lgamma": 37, "multigammaln": 155, "polygamma": 43, "nextafter": 6,
            "div_no_nan": 3, "floor_div": 9, "trunc_div": 2, "prelu": 3}
PROGRAMS_WITH_SCALAR = {"div_no_nan": 1, "floor_div": 2, "prelu": 1}
