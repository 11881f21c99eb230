# SPDX-License-Identifier: Apache-2.0
"""Fails on a Python module that imports one above it in python_layers.txt, on an import inside a
function without a reason beside it, and on a file of more than 500 lines.

Usage: check_python.py ROOT [TABLE], where ROOT/python/howard is the package.
"""

import ast
import pathlib
import sys

MOST_LINES = 500


def layers(file):
    """Returns the height of each module of the table: a line is above those before it."""
    rows = [line.split("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    return {name: height for height, row in enumerate(rows) for name in row}


def module_of(path, package):
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def targets_of(node, name, is_package, modules):
    """Returns the modules of the package that an import statement names."""
    if isinstance(node, ast.Import):
        found = [one.name for one in node.names]
    else:
        base = name.split(".") if is_package else name.split(".")[:-1]
        base = base[:len(base) - node.level + 1] if node.level else []
        base = ".".join(base + ([node.module] if node.module else []))
        found = [f"{base}.{one.name}" if f"{base}.{one.name}" in modules else base
                 for one in node.names]
    return [one for one in found if one in modules]


def imports(tree):
    """Returns each import statement, and whether it is inside a function."""
    def walk(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                yield child, inside
            else:
                yield from walk(child, inside or isinstance(
                    child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))

    return walk(tree, False)


def findings(root, table):
    package = root / "python" / "howard"
    heights = layers(table)
    files = {module_of(path, package): path for path in sorted(package.rglob("*.py"))}
    modules = {*files, "howard._native"}
    for name in sorted(set(heights) - modules):
        yield f"{table}:1: there is no module {name}"
    for name, path in files.items():
        place = path.relative_to(root)
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        if len(lines) > MOST_LINES:
            yield f"{place}:{MOST_LINES + 1}: {len(lines)} lines, where {MOST_LINES} are the most"
        if name not in heights:
            yield f"{place}:1: {name} has no row in {table.name}"
            continue
        for node, inside in imports(ast.parse(text)):
            if inside and "#" not in lines[node.lineno - 1]:
                yield f"{place}:{node.lineno}: an import inside a function without its reason beside it"
            for target in targets_of(node, name, path.name == "__init__.py", modules):
                if target != name and heights.get(target, -1) >= heights[name]:
                    yield f"{place}:{node.lineno}: {name} must not import {target}, which is not below it"


def main():
    root, *table = map(pathlib.Path, sys.argv[1:])
    beside = pathlib.Path(__file__).with_name("python_layers.txt")
    found = list(findings(root.resolve(), table[0] if table else beside))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
