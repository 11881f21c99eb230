# SPDX-License-Identifier: Apache-2.0
"""Rounds up, under the names that tt-metal's helpers have for it."""


def divup(a, b):
    return -(-a // b)


def roundup(a, b):
    return divup(a, b) * b


def roundup32(a):
    return roundup(a, 32)
