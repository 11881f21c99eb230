# SPDX-License-Identifier: Apache-2.0
"""Finds the names of ttnn and ttml in a script that are not there, by its text, without running
it."""

import ast
import importlib
import sys
import types

from ._errors import nearest

_ABSENT = object()
_PACKAGES = ("ttnn", "ttml")


def _is_ours(name):
    return name is not None and name.split(".")[0] in _PACKAGES


def _package(chain):
    return importlib.import_module("howard." + chain[0])


class _Names(ast.NodeVisitor):
    """Collects attribute chains that begin with ttnn or ttml, and what is imported from it."""

    def __init__(self):
        self.aliases = {}  # local name: the chain that it stands for
        self.found = []  # (chain, line)
        self.asked = set()  # chains that the script asks for with hasattr before it uses them

    def visit_Import(self, node):
        for one in node.names:
            if _is_ours(one.name):
                parts = one.name.split(".")
                local = one.asname or parts[0]
                self.aliases[local] = parts if one.asname else parts[:1]
                self.found.append((one.name.split("."), node.lineno))

    def visit_ImportFrom(self, node):
        if _is_ours(node.module) and not node.level:
            for one in node.names:
                chain = node.module.split(".") + ([] if one.name == "*" else [one.name])
                self.aliases[one.asname or one.name] = chain
                self.found.append((chain, node.lineno))

    def visit_Attribute(self, node):
        chain = self._chain(node)
        if chain is not None:
            self.found.append((chain, node.lineno))
        else:
            self.generic_visit(node)

    def visit_Call(self, node):
        """Notes that getattr(ttnn, "name") names it too; with a default, or after hasattr, it may
        be absent."""
        words = ("getattr", "hasattr")
        if isinstance(node.func, ast.Name) and node.func.id in words and len(node.args) >= 2:
            holder, name = self._chain(node.args[0]), node.args[1]
            if holder is not None and isinstance(name, ast.Constant) and isinstance(
                    name.value, str):
                chain = holder + name.value.split(".")
                if node.func.id == "hasattr" or len(node.args) > 2:
                    self.asked.add(tuple(chain))
                else:
                    self.found.append((chain, node.lineno))
        self.generic_visit(node)

    def learn_assignment(self, node):
        """Learns another name of the module or of a part of it: `t = ttnn` and `ex =
        ttnn.experimental`."""
        chain = self._chain(node.value) or _imported(node.value)
        if chain is None or not _is_module(chain):
            return
        for target in node.targets:
            if isinstance(target, (ast.Name, ast.Attribute)):
                self.aliases[ast.unparse(target)] = chain

    def _chain(self, node):
        """Returns what an expression of names and dots stands for; None for anything else."""
        parts = []
        while True:
            known = self.aliases.get(ast.unparse(node)) if isinstance(
                node, (ast.Name, ast.Attribute)) else None
            if known is not None:
                return known + parts[::-1]
            if not isinstance(node, ast.Attribute):
                return None
            parts.append(node.attr)
            node = node.value


def _imported(node):
    """Returns the chain of importlib.import_module("ttnn"); None for anything else."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "importlib.import_module", "import_module", "__import__") and node.args:
        name = node.args[0]
        if isinstance(name, ast.Constant) and _is_ours(str(name.value)):
            return name.value.split(".")
    return None


def _is_module(chain):
    at = _package(chain)
    for part in chain[1:]:
        at = getattr(at, part, None)
    return isinstance(at, (types.ModuleType, types.SimpleNamespace, type))


def names_of(text, name="<script>"):
    """Returns each chain of the script with its lines. Raises SyntaxError when it is no Python."""
    visitor = _Names()
    tree = ast.parse(text, name)
    # Imports come first, because a function may use a name that a later line imports.
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            visitor.visit_Import(node)
        elif isinstance(node, ast.ImportFrom):
            visitor.visit_ImportFrom(node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            visitor.learn_assignment(node)
    visitor.visit(tree)
    found = {}
    for chain, line in visitor.found:
        if tuple(chain) not in visitor.asked:
            found.setdefault(tuple(chain), set()).add(line)
    return found


def _module_of(chain):
    """Returns a module of a package that is imported by its own name; None if there is none."""
    try:
        return importlib.import_module("howard." + ".".join(chain))
    except ImportError:
        return None


def resolve(chain):
    """Returns how much of a chain is there, and what the rest is missing from."""
    at = _package(chain)
    for i, part in enumerate(chain[1:], 1):
        known = [n for n in dir(at) if not n.startswith("_")]
        found = vars(at).get(part, _ABSENT) if hasattr(at, "__dict__") else _ABSENT
        if found is _ABSENT:
            try:
                found = getattr(at, part)
            except AttributeError:
                found = _module_of(chain[:i + 1])
            if found is None:
                return ".".join(chain[:i + 1]), nearest(part, known), ".".join(chain[:i])
        at = found
        if isinstance(at, (int, float, str)):
            break
    return None


def main(script):
    """Prints what is missing and returns 0 when nothing is, 1 when something is, 2 when the script
    cannot be read."""
    try:
        with open(script, encoding="utf-8", errors="replace") as file:
            found = names_of(file.read(), script)
    except (OSError, SyntaxError, ValueError) as failure:
        print(f"cannot read {script}: {failure}", file=sys.stderr)
        return 2
    if not found:
        print(f"{script}: names nothing of ttnn or ttml")
        return 0
    missing = {}
    for chain, lines in sorted(found.items()):
        answer = resolve(chain)
        if answer is not None:
            missing.setdefault(answer, set()).update(lines)
    for (name, near, holder), lines in sorted(
            missing.items(), key=lambda one: (min(one[1]), one[0][0])):
        places = ", ".join(map(str, sorted(lines)))
        hint = f"; the nearest that is: {holder}.{near}" if near else ""
        print(f"{script}:{places}: {name} is not there{hint}")
    count = len(found)
    packages = " and ".join(p for p in _PACKAGES if any(chain[0] == p for chain in found))
    print(f"{script}: {count} names of {packages}, {len(missing)} missing (by the script's text: "
          "names made at run time are not seen)")
    return 1 if missing else 0
