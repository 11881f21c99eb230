# SPDX-License-Identifier: Apache-2.0
"""Defines cores, grids and sets of cores."""


class CoreCoord:
    def __init__(self, x, y):
        self.x, self.y = int(x), int(y)

    def __eq__(self, other):
        return isinstance(other, CoreCoord) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __iter__(self):
        return iter((self.x, self.y))

    def __repr__(self):
        return f"(x={self.x},y={self.y})"

    def str(self):
        return repr(self)


class CoreGrid:
    def __init__(self, *, x, y):
        self.x, self.y = int(x), int(y)

    @property
    def num_cores(self):
        return self.x * self.y

    def __eq__(self, other):
        return isinstance(other, CoreGrid) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __repr__(self):
        return f"ttnn.CoreGrid(x={self.x}, y={self.y})"


def _coord(core):
    return core if isinstance(core, CoreCoord) else CoreCoord(*core)


class CoreRange:
    def __init__(self, start, end=None):
        self.start = _coord(start)
        self.end = _coord(end if end is not None else start)

    def size(self):
        return (self.end.x - self.start.x + 1) * (self.end.y - self.start.y + 1)

    def grid_size(self):
        return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)

    def contains(self, core):
        core = _coord(core)
        return self.start.x <= core.x <= self.end.x and self.start.y <= core.y <= self.end.y

    def __eq__(self, other):
        return isinstance(other, CoreRange) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self):
        return hash((self.start, self.end))

    def __repr__(self):
        return f"[{self.start!r} - {self.end!r}]"


class CoreRangeSet:
    def __init__(self, ranges=()):
        if isinstance(ranges, CoreRange):
            ranges = [ranges]
        self._ranges = sorted(
            set(ranges), key=lambda r: (r.start.y, r.start.x, r.end.y, r.end.x)
        )

    def num_cores(self):
        return sum(r.size() for r in self._ranges)

    def ranges(self):
        return list(self._ranges)

    def size(self):
        return len(self._ranges)

    def empty(self):
        return not self._ranges

    def bounding_box(self):
        return CoreRange(
            CoreCoord(min(r.start.x for r in self._ranges), min(r.start.y for r in self._ranges)),
            CoreCoord(max(r.end.x for r in self._ranges), max(r.end.y for r in self._ranges)),
        )

    def cores(self):
        return [
            CoreCoord(x, y)
            for r in self._ranges
            for y in range(r.start.y, r.end.y + 1)
            for x in range(r.start.x, r.end.x + 1)
        ]

    def contains(self, what):
        inner = what.ranges() if isinstance(what, CoreRangeSet) else [what]
        own = {(c.x, c.y) for c in self.cores()}
        for part in inner:
            cores = CoreRangeSet(part).cores() if isinstance(part, CoreRange) else [_coord(part)]
            if any((c.x, c.y) not in own for c in cores):
                return False
        return True

    def merge(self, other):
        return CoreRangeSet(self._ranges + CoreRangeSet(other).ranges()
                            if not isinstance(other, CoreRangeSet)
                            else self._ranges + other.ranges())

    def subtract(self, other):
        gone = {(c.x, c.y) for c in other.cores()}
        return CoreRangeSet([CoreRange(c, c) for c in self.cores() if (c.x, c.y) not in gone])

    def __eq__(self, other):
        return isinstance(other, CoreRangeSet) and self._ranges == other._ranges

    def __hash__(self):
        return hash(tuple(self._ranges))

    def __repr__(self):
        return "{" + ", ".join(map(repr, self._ranges)) + "}"


def _grid_set(grid):
    if isinstance(grid, CoreRangeSet):
        return grid
    if isinstance(grid, CoreRange):
        return CoreRangeSet([grid])
    if isinstance(grid, (tuple, list)):
        grid = CoreCoord(*grid)
    return CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])


def num_cores_to_corerangeset(target, grid, row_wise=False):
    """Returns the first `target` cores of a grid, along its rows or its columns: those that are whole
    are one range, and the rest is another."""
    grid = CoreCoord(*grid) if isinstance(grid, (tuple, list)) else grid
    if target > grid.x * grid.y:
        raise RuntimeError(f"{target} cores do not fit a grid of {grid.x}x{grid.y}")
    length = grid.x if row_wise else grid.y
    lines, rest = divmod(target, length)
    corners = [((0, 0), (length - 1, lines - 1))] * (lines > 0) + [
        ((0, lines), (rest - 1, lines))] * (rest > 0)
    return CoreRangeSet([CoreRange(*(end if row_wise else end[::-1] for end in pair))
                         for pair in corners])


def num_cores_to_corerangeset_in_subcoregrids(start_core, target, sub_core_grids, row_wise=False):
    """Returns `target` cores of some ranges, from one of them on: range after range, each along its
    rows or its columns."""
    ranges = sub_core_grids.ranges()
    inside = [i for i, one in enumerate(ranges) if one.contains(start_core)]
    if target < 1 or not inside:
        raise RuntimeError(f"{target} cores from {start_core} on: one at least is asked for, and the "
                           f"first must lie in {sub_core_grids}")
    ordered = []
    for one in ranges[inside[0]:] + ranges[:inside[0]]:
        ordered += corerange_to_cores(one, None, row_wise)
    ordered = ordered[ordered.index(start_core):]
    if target > len(ordered):
        raise RuntimeError(f"{target} cores from {start_core} on do not fit {sub_core_grids}")
    return CoreRangeSet(_lines_of(ordered[:target], row_wise))


def _lines_of(cores, row_wise):
    """Returns cores in their order as a range for each part of a row, or of a column."""
    made = []
    for core in cores:
        last = made[-1] if made else None
        step = (1, 0) if row_wise else (0, 1)
        if last is not None and (last.end.x + step[0], last.end.y + step[1]) == tuple(core):
            made[-1] = CoreRange(last.start, core)
        else:
            made.append(CoreRange(core, core))
    return made


def corerange_to_cores(cores, max_cores=None, row_wise=False):
    found = cores.cores() if isinstance(cores, CoreRangeSet) else CoreRangeSet(cores).cores()
    found.sort(key=lambda c: (c.y, c.x) if row_wise else (c.x, c.y))
    return found[:max_cores]


def grid_to_cores(num_cores, grid_x, grid_y, row_wise=False):
    cores = num_cores_to_corerangeset(num_cores, CoreGrid(x=grid_x, y=grid_y), row_wise)
    return corerange_to_cores(cores, None, row_wise)
