#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""declared_symbols.py PREFIX: the linker's names of all functions that the installed headers declare, one a line.

Reads the headers of an installation as text, finds what they declare without a body, and looks each up among the symbols
that the installed libraries define. Templates, deleted and pure virtual functions have none; private ones are left out.
A declared function without a symbol is an error: a plugin that calls it would compile and not link.
"""
import pathlib
import re
import subprocess
import sys

NO_FUNCTIONS = {"alignas", "decltype", "noexcept", "requires", "sizeof", "static_assert", "while", "if", "for", "return"}
NOT_A_DECLARATION = re.compile(r"^(using|typedef|friend|static_assert|return|template|extern template|enum|goto)\b")


def code_of(path):
    """A header without comments, literals and preprocessor lines."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'|//[^\n]*|/\*.*?\*/', " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    return re.sub(r"\[\[.*?\]\]", " ", text)


def before_parameters(text):
    """The text up to the first '(' that is not inside <...>, or None."""
    depth = 0
    for at, letter in enumerate(text):
        if letter == "<" and "operator" not in text[:at]:
            depth += 1
        elif letter == ">" and "operator" not in text[:at]:
            depth -= 1
        elif letter == "(" and depth == 0:
            return text[: at + 2].rstrip() if text[:at].endswith("operator") else text[:at]
    return None


def name_of_function(statement):
    """The name that a declaration declares, or None if it declares no function."""
    head = before_parameters(statement)
    if head is None or re.search(r"\b(virtual)?\b.*=\s*(0|default|delete)\s*$", statement):
        return None
    if statement[len(head) + 1 :].lstrip().startswith("*"):  # A pointer to a function.
        return None
    operator = re.search(r"operator\s*(\S.*?)\s*$", head)
    if operator:
        return "operator" + operator.group(1) if not operator.group(1)[0].isalpha() else "operator " + operator.group(1)
    if "=" in head:
        return None
    name = re.search(r"(~?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*)\s*$", head)
    return name.group(1) if name and name.group(1) not in NO_FUNCTIONS else None


class Header:
    """Reads a header, and collects the functions that it declares and those that it defines."""

    def __init__(self, text):
        self.declared, self.defined = set(), set()
        self.text, self.at = text, 0
        self.scan([], "public", False)

    def skip_block(self):
        depth = 1
        while depth and self.at < len(self.text):
            depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
            self.at += 1

    def scan(self, scope, access, template):
        statement = ""
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter == "}":
                return
            if letter not in ";{":
                statement += letter
                specifier = re.match(r"\s*(public|protected|private)\s*:(?!:)$", statement)
                if specifier and self.text[self.at : self.at + 1] != ":":
                    access, statement = specifier.group(1), ""
                continue
            statement = " ".join(statement.split())
            is_template = template or statement.startswith("template")
            if letter == ";":
                name = None if is_template or NOT_A_DECLARATION.match(statement) else name_of_function(statement)
                if name and access != "private":
                    self.declared.add("::".join([*scope, name]))
                statement = ""
            else:
                statement = self.block(statement, scope, is_template)

    def block(self, head, scope, template):
        """After a '{'. Returns what of the statement is still open."""
        namespace = re.search(r"\bnamespace\s*([\w:]*)$", head)
        kind = re.match(r"^(?:template\s*<.*>\s*)?(class|struct|union)\s+([\w:]+)(?:\s+final)?\s*(?::[^:].*)?$", head)
        if namespace:
            self.scan([*scope, *filter(None, namespace.group(1).split("::"))], "public", template)
        elif kind:
            access = "private" if kind.group(1) == "class" else "public"
            self.scan([*scope, kind.group(2)], access, template)
        else:
            name = name_of_function(head)
            if name:
                self.defined.add("::".join([*scope, name]))
            self.skip_block()
            return "" if name or head.startswith("enum") else head + " {}"
        return ""


def symbols_of(prefix):
    """What the libraries define: from the name without parameters to the linker's names."""
    found = {}
    libraries = [*prefix.rglob("libtrainyard_*.so"), *prefix.rglob("libtrainyard_*.a")]
    for library in libraries:
        dynamic = ["-D"] if library.suffix == ".so" else []
        listed = subprocess.run(["nm", *dynamic, "--defined-only", str(library)], check=True, capture_output=True, text=True)
        names = [line.split()[2] for line in listed.stdout.splitlines() if re.match(r"^[0-9a-f]+ [TWVi] _Z", line)]
        plain = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True)
        for name, text in zip(names, plain.stdout.splitlines()):
            text = re.sub(r"\[abi:\w+\]", "", text)
            found.setdefault(before_parameters(text) or text, []).append(name)
    return found


def main():
    prefix = pathlib.Path(sys.argv[1])
    declared, defined = set(), set()
    for path in sorted((prefix / "include" / "trainyard").rglob("*.h")):
        header = Header(code_of(path))
        declared |= header.declared
        defined |= header.defined
    symbols = symbols_of(prefix)
    missing = sorted(name for name in declared - defined if name not in symbols)
    for name in missing:
        print(f"{name} is declared in an installed header, and no installed library defines it", file=sys.stderr)
    print("\n".join(sorted({one for name in declared - defined for one in symbols.get(name, ())})))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
