#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation, from the root of the source tree:

- every relative link and every anchor leads somewhere,
- every page below docs/ can be reached from docs/README.md,
- every `trainyard` command in a block of code names a verb that the command has,
- every shipped launch file that such a command names exists.

Prints what is wrong, one line each, and returns 1; returns 0 if all is well.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~)")
VERBS = re.compile(r'app\.add_subcommand\(\s*"(\w+)"([^;]*);')
COMMAND = re.compile(r"(?:^|[\s`(|/])trainyard ([a-z]+)(?: ([a-z]+))?")


def pages():
    """Returns all Markdown files of the source tree."""
    skipped = {"build", ".git", "node_modules"}
    return sorted(path for path in ROOT.rglob("*.md") if not skipped & set(path.relative_to(ROOT).parts))


def split(text):
    """Yields the lines of a page as (number, line, is_code). Indented and fenced lines are code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
            continue
        yield number, line, fenced or line.startswith("    ")


def anchors(page):
    """Returns the anchors of a page, formed from its headings in the same way as by GitHub."""
    found, seen = set(), {}
    for _, line, code in split(page.read_text(encoding="utf-8")):
        heading = re.match(r"#{1,6} +(.*)", line)
        if code or not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(page):
    """Yields the links of a page that are not in code, as (line number, target)."""
    for number, line, code in split(page.read_text(encoding="utf-8")):
        if not code:
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                yield number, target


def check_links(page):
    for number, target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page.relative_to(ROOT)}:{number}: there is no {path}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{page.relative_to(ROOT)}:{number}: {file.relative_to(ROOT)} has no heading for #{anchor}"


def check_reachable():
    start = ROOT / "docs" / "README.md"
    reached, waiting = {start}, [start]
    while waiting:
        page = waiting.pop()
        for _, target in links(page):
            file = (page.parent / target.partition("#")[0]).resolve()
            if file.suffix == ".md" and file.exists() and file not in reached:
                reached.add(file)
                waiting.append(file)
    for page in pages():
        if ROOT / "docs" in page.parents and page not in reached:
            yield f"{page.relative_to(ROOT)}: cannot be reached from docs/README.md"


def known_verbs():
    """Returns the subcommands of `trainyard`, read from its sources. A family of subcommands, such as `topic`, maps to
    the words that may follow it."""
    verbs = {}
    for source in sorted((ROOT / "tools" / "trainyard").glob("*_verb.cpp")):
        text = source.read_text(encoding="utf-8")
        # The code of a family may be in several files, such as topic_verb.cpp and topic_echo.cpp.
        family = source.name.removesuffix("_verb.cpp")
        whole = "".join(part.read_text(encoding="utf-8") for part in sorted(source.parent.glob(f"{family}_*.cpp")))
        for name, rest in VERBS.findall(text):
            # Some families have their subcommands in a table, so any quoted word in the source may be the name of a
            # subcommand.
            verbs[name] = set(re.findall(r'"([a-z]+)"', whole)) if "require_subcommand" in rest else set()
    return verbs


def check_commands(page, verbs):
    shipped = {file.name for file in (ROOT / "launch" / "files").glob("*.toml")}
    for number, line, code in split(page.read_text(encoding="utf-8")):
        pieces = [line] if code else re.findall(r"`(trainyard [^`]*)`", line)
        for piece in pieces:
            piece = piece.split(" #")[0]
            for verb, below in COMMAND.findall(piece):
                place = f"{page.relative_to(ROOT)}:{number}"
                if verb not in verbs:
                    yield f"{place}: there is no verb 'trainyard {verb}'"
                elif below and verbs[verb] and below not in verbs[verb]:
                    yield f"{place}: there is no verb 'trainyard {verb} {below}'"
            for name in re.findall(r"launch/files/([\w.]+\.toml)", piece):
                if name not in shipped:
                    yield f"{page.relative_to(ROOT)}:{number}: there is no launch/files/{name}"


def main():
    verbs = known_verbs()
    if "launch" not in verbs:
        sys.exit("check_docs.py: the verbs of the command were not found in tools/trainyard/")
    problems = list(check_reachable())
    for page in pages():
        problems += check_links(page)
        problems += check_commands(page, verbs)
    print("\n".join(problems) or f"{len(pages())} pages: links, anchors and commands are right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
