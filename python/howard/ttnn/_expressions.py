# SPDX-License-Identifier: Apache-2.0
"""Gives arrays of numbers operators."""

from howard import _native

arrays = _native._ttnn.arrays


class V:
    """Gives numbers operators, so that derivatives read as they are written."""

    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a if not isinstance(a, (int, float)) else arrays.full([], float(a), False)

    def _with(self, function, other, reflected=False):
        other = other if isinstance(other, V) else V(other)
        first, second = (other, self) if reflected else (self, other)
        return V(arrays.binary(function, first.a, second.a))

    def __add__(self, other):
        return self._with("add", other)

    __radd__ = __add__

    def __sub__(self, other):
        return self._with("subtract", other)

    def __rsub__(self, other):
        return self._with("subtract", other, True)

    def __mul__(self, other):
        return self._with("multiply", other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._with("divide", other)

    def __rtruediv__(self, other):
        return self._with("divide", other, True)

    def __neg__(self):
        return self.f("neg")

    def __pow__(self, other):
        return self._with("pow", other)

    def __gt__(self, other):
        return self._with("gt", other)

    def __ge__(self, other):
        return self._with("ge", other)

    def __lt__(self, other):
        return self._with("lt", other)

    def __le__(self, other):
        return self._with("le", other)

    def f(self, function, *parameters):
        return V(arrays.unary(function, self.a, [float(p) for p in parameters]))

    def b(self, function, other):
        return self._with(function, other)

    def between(self, low, high):
        return (self >= low) * (self <= high)
