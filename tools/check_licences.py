#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every source file names its licence in one of its first three lines. Prints the files that do not, and
exits with 1 if there is one.

`--self-test` checks that this script distinguishes files with and without a licence line. """
import pathlib
import subprocess
import sys
import tempfile

LINE = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = (".h", ".cpp", ".py", ".sh", ".cmake", ".js", ".mjs", ".ts", ".tsx", ".css", ".html")
NAMES = ("CMakeLists.txt",)
# These files are built from sources that have the line, and from libraries whose licences are in THIRD_PARTY.txt in the
# same folder.
BUILT = ("viewer/page/dist/",)
FORMS = (f"// {LINE}", f"# {LINE}", f"/* {LINE} */", f"<!-- {LINE} -->")


def has_line(path):
    with open(path, encoding="utf-8") as file:
        return any(line.rstrip("\n").strip() in FORMS for line, _ in zip(file, range(3)))


def is_source(path):
    return (path.suffix in SUFFIXES or path.name in NAMES) and not path.as_posix().startswith(BUILT)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        good, bad, late, more = (pathlib.Path(folder) / name for name in ("good.h", "bad.h", "late.py", "more.h"))
        good.write_text(f"// {LINE}\n#pragma once\n", encoding="utf-8")
        bad.write_text("#pragma once\n", encoding="utf-8")
        late.write_text("\n\n\n# " + LINE + "\n", encoding="utf-8")
        more.write_text(f"// {LINE} Says what is in the file.\n", encoding="utf-8")
        assert has_line(good) and not has_line(bad) and not has_line(late) and not has_line(more)
        style = pathlib.Path(folder) / "style.css"
        style.write_text(f"/* {LINE} */\n", encoding="utf-8")
        assert has_line(style)
        assert is_source(good) and not is_source(pathlib.Path("README.md"))
        assert is_source(pathlib.Path("viewer/page/src/main.tsx")) and not is_source(pathlib.Path("viewer/page/dist/page.js"))


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.splitlines()
    missing = [name for name in listed if is_source(pathlib.Path(name)) and not has_line(name)]
    for name in missing:
        print(f"{name}: no line '{LINE}' among its first three")
    print(f"licences: {len(missing)} file(s) without one" if missing else "licences: every source file names its own")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
