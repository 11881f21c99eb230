# SPDX-License-Identifier: Apache-2.0
"""Fails on an argument of the stand-in for ttnn that nothing reads, and on one that is listed as
having no effect without a reason.

An argument that a function cannot honour is either refused by its name when it is not at its default
(`refuses` of @operation), or listed as having no effect on values and time (`unread` of @operation,
with its reason in _arguments.py). Both are then no parameters of the function.

Usage: check_arguments.py ROOT, where ROOT/python/howard/ttnn is the package.
"""

import ast
import pathlib
import sys

REASONS = "_arguments.py"


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
    """Returns each function with the parameters that its body never reads; methods that do nothing
    are left out, as their text says that."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not is_empty(node):
            read = names_read(node)
            for name in parameters(node):
                if name not in read and name not in ("self", "cls"):
                    yield node.lineno, f"{node.name}() never reads its parameter {name}"


def words_of(node):
    """Returns the words of an `unread` or `refuses`: a text of words, or a dictionary's keys."""
    if isinstance(node, ast.Constant):
        return str(node.value).split()
    return [ast.literal_eval(key) for key in node.keys] if isinstance(node, ast.Dict) else []


def decorations(tree):
    """Returns each decorated function with the words of each list of its @operation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call):
                    for one in call.keywords:
                        if one.arg in ("unread", "refuses"):
                            yield node, one.arg, words_of(one.value)


def reasons_of(tree):
    """Returns the words that _arguments.py gives a reason for: in UNREAD for the functions that list
    them, in EVERYWHERE for all."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            found[node.targets[0].id] = {
                ast.literal_eval(k): ast.literal_eval(v)
                for k, v in zip(node.value.keys, node.value.values)}
    return found.get("UNREAD", {}), found.get("EVERYWHERE", {})


def findings(root):
    package = root / "python" / "howard" / "ttnn"
    table = package / REASONS
    reasons, everywhere = reasons_of(ast.parse(table.read_text(encoding="utf-8")))
    used = set()
    for path in sorted(package.rglob("*.py")):
        tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(root)
        for line, text in unread(tree):
            yield f"{place}:{line}: {text}"
        for function, kind, words in decorations(tree):
            for word in words:
                if word in parameters(function):
                    yield f"{place}:{function.lineno}: {function.name}() has {word}, which it {kind}"
                if kind == "unread" and word not in reasons:
                    yield f"{place}:{function.lineno}: {word} has no reason in {REASONS}"
            used.update(words if kind == "unread" else ())
    for word, reason in {**reasons, **everywhere}.items():
        if len(reason.split()) < 4:
            yield f"{table.relative_to(root)}:1: the reason of {word} is no sentence: {reason!r}"
    for word in sorted(set(reasons) - used):
        yield f"{table.relative_to(root)}:1: no function lists {word}"


def main():
    found = list(findings(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
