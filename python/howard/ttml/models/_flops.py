# SPDX-License-Identifier: Apache-2.0
"""Counts the operations of a token, forward and backward: six for each weight that multiplies it, and
twelve for each column of its heads and token that it looks at."""


def of_token(weights, attended, sequence_length):
    """Returns the count for so many weights, and so many columns of heads in all blocks."""
    return 6 * weights + 12 * attended * sequence_length
