# SPDX-License-Identifier: Apache-2.0
"""Fills in a chat template with Jinja2, as Hugging Face's library does.

Standard input is a JSON object: "template" is the template's text, "variables" are those that it may use, and "most"
is the largest text in bytes that is wanted. The text goes to standard output; standard error says in one line why
there is none, and the status is 3 if Jinja2 is not installed.
"""

import datetime
import json
import resource
import sys
import traceback

try:
    from jinja2 import TemplateError, nodes
    from jinja2.exceptions import TemplateSyntaxError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError as failure:
    print(failure, file=sys.stderr)
    sys.exit(3)

MOST_MEMORY = 1 << 30


class Generation(Extension):
    """The tag `generation`, which marks for training what a model has written; here it is what it encloses."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.Scope(body, lineno=line)


def raise_exception(message):
    raise TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def fill(wanted):
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    text = environment.from_string(wanted["template"]).render(**wanted["variables"]).encode()
    if len(text) > wanted["most"]:
        raise TemplateError(f"it makes a text of {len(text)} bytes")
    return text


def line_of(failure):
    """Returns the line of the template that failed; templates are compiled to Python that has their lines."""
    if isinstance(failure, TemplateSyntaxError):
        return failure.lineno
    frames = traceback.extract_tb(failure.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == "<template>"), None)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        sys.stdout.buffer.write(fill(json.load(sys.stdin)))
    except Exception as failure:  # a template may fail in any way; the caller says so in one line
        line = line_of(failure)
        reason = " ".join((str(failure) or type(failure).__name__).split())
        print(f"line {line}: {reason}" if line else reason, file=sys.stderr)
        sys.exit(1)
