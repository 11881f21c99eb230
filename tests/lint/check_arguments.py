# SPDX-License-Identifier: Apache-2.0
"""Fails on an argument of the stand-in for ttnn that nothing reads, and on one that is listed as
having no effect without a reason.

An argument that a function cannot honour is either refused by its name when it is not at its default
(`refuses` of @operation), or listed as having no effect on values and time (`unread` of @operation,
with its reason in _arguments.py). Both are then no parameters of the function. A function that is no
operation has its own in PLAIN of _arguments.py.

Usage: check_arguments.py ROOT, where ROOT/python/howard/ttnn is the package.
"""

import ast
import pathlib
import runpy
import sys

REASONS = "_arguments.py"
# Their functions are ttnn's too.
BESIDE = ("_devices.py", "_graph.py", "_memory.py", "_mesh.py", "_methods.py", "_tensor.py", "database.py",
          "model_preprocessing.py")


def parameters(function):
    """Returns the names of a function's parameters, those that take what is left over too."""
    given = function.args
    every = given.posonlyargs + given.args + given.kwonlyargs + [given.vararg, given.kwarg]
    return [one.arg for one in every if one is not None]


def names_read(function):
    return {node.id for part in function.body for node in ast.walk(part)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def is_empty(function):
    """Says whether a function does nothing but say so."""
    return all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
               for one in function.body)


def unread(tree):
    """Returns the line and the name of each function with a parameter that its body never reads. Functions that do nothing
    are left out, as their text says that, and so is what a helper is given and names with a first
    underscore."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not is_empty(node):
            read = names_read(node)
            helps = not node.decorator_list and not node.args.vararg and not node.args.kwarg
            for name in parameters(node):
                left_out = name in ("self", "cls") or helps and name.startswith("_")
                if name not in read and not left_out:
                    yield node.lineno, node.name, name


def words_of(node, constants):
    """Returns the words of an `unread` or `refuses`: a text of words, a tuple, a dictionary's keys, or
    a name of the module for one of these."""
    if isinstance(node, ast.Name):
        node = constants.get(node.id, node)
    if isinstance(node, ast.Constant):
        return str(node.value).split()
    if isinstance(node, (ast.Dict, ast.Tuple)):
        return [ast.literal_eval(one) for one in getattr(node, "keys", None) or node.elts]
    return []


def lists_of(tree):
    """Returns each list of a registration: its line, whether it is `unread` or `refuses`, and its
    words."""
    constants = {node.targets[0].id: node.value for node in tree.body
                 if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for one in node.keywords:
                if one.arg in ("unread", "refuses"):
                    yield node.lineno, one.arg, words_of(one.value, constants)


def findings(root):
    package = root / "python" / "howard" / "ttnn"
    table = package / REASONS
    tables = runpy.run_path(str(table))
    reasons, everywhere, plain = tables["UNREAD"], tables["EVERYWHERE"], tables["PLAIN"]
    used = set()
    for path in sorted([*package.glob("_operations/*.py"), *(package / one for one in BESIDE)]):
        tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(root)
        for line, function, name in unread(tree):
            if f"{function}.{name}" in plain:
                used.add(f"{function}.{name}")
            else:
                yield f"{place}:{line}: {function}() never reads its parameter {name}"
        for line, kind, words in lists_of(tree):
            for word in words if kind == "unread" else ():
                if word not in reasons and word not in everywhere:
                    yield f"{place}:{line}: {word} has no reason in {REASONS}"
                used.add(word)
    for word, reason in {**reasons, **everywhere, **plain}.items():
        if len(reason.split()) < 4:
            yield f"{table.relative_to(root)}:1: the reason of {word} is no sentence: {reason!r}"
    for word in sorted({*reasons, *plain} - used):
        yield f"{table.relative_to(root)}:1: no function lists {word}"


def main():
    found = list(findings(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
