# SPDX-License-Identifier: Apache-2.0
"""Counts the operations of a token, forward and backward."""


def of_token(weights, attended, sequence_length):
    """Returns six operations for each weight that multiplies the token, and twelve for each token that
    it looks at and each of the `attended` columns that the heads of all blocks have."""
    return 6 * weights + 12 * attended * sequence_length
