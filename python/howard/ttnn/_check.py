# SPDX-License-Identifier: Apache-2.0
"""What of ttnn a script names that is not there: by its text, without running it."""

import ast
import sys

from ._errors import nearest

_ABSENT = object()


class _Names(ast.NodeVisitor):
    """Attribute chains that begin with ttnn, and what is imported from it."""

    def __init__(self):
        self.aliases = {}  # local name: the chain that it stands for
        self.found = []  # (chain, line)

    def visit_Import(self, node):
        for one in node.names:
            if one.name == "ttnn" or one.name.startswith("ttnn."):
                local = one.asname or one.name.split(".")[0]
                self.aliases[local] = one.name.split(".") if one.asname else ["ttnn"]
                self.found.append((one.name.split("."), node.lineno))

    def visit_ImportFrom(self, node):
        if node.module and (node.module == "ttnn" or node.module.startswith("ttnn.")):
            for one in node.names:
                chain = node.module.split(".") + ([] if one.name == "*" else [one.name])
                self.aliases[one.asname or one.name] = chain
                self.found.append((chain, node.lineno))

    def visit_Attribute(self, node):
        chain, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.aliases:
            self.found.append((self.aliases[inner.id] + chain[::-1], node.lineno))
        else:
            self.generic_visit(node)


def names_of(text, name="<script>"):
    """Each chain of the script with its lines. Error when it is no Python."""
    visitor = _Names()
    tree = ast.parse(text, name)
    # Imports first: a function may use a name that a later line imports.
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            visitor.visit_Import(node)
        elif isinstance(node, ast.ImportFrom):
            visitor.visit_ImportFrom(node)
    visitor.visit(tree)
    found = {}
    for chain, line in visitor.found:
        found.setdefault(tuple(chain), set()).add(line)
    return found


def resolve(chain):
    """How much of a chain is there, and what the rest is missing from."""
    import howard.ttnn as module

    at = module
    for i, part in enumerate(chain[1:], 1):
        known = [n for n in dir(at) if not n.startswith("_")]
        found = vars(at).get(part, _ABSENT) if hasattr(at, "__dict__") else _ABSENT
        if found is _ABSENT:
            try:
                found = getattr(at, part)
            except AttributeError:
                return ".".join(chain[:i + 1]), nearest(part, known), ".".join(chain[:i])
        at = found
        if isinstance(at, (int, float, str)):
            break
    return None


def main(script):
    """Prints what is missing; 0 when nothing is, 1 when something is, 2 when it can not be read."""
    try:
        with open(script, encoding="utf-8", errors="replace") as file:
            found = names_of(file.read(), script)
    except (OSError, SyntaxError, ValueError) as failure:
        print(f"cannot read {script}: {failure}", file=sys.stderr)
        return 2
    if not found:
        print(f"{script}: names nothing of ttnn")
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
    print(f"{script}: {count} names of ttnn, {len(missing)} missing (by the script's text: "
          "names made at run time are not seen)")
    return 1 if missing else 0
