#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_page.py PAGE FOLDER: checks that every block of C++ or CMake in PAGE is, line for line, in a file of FOLDER."""
import pathlib
import re
import sys

page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sources = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}
blocks = re.findall(r"```(?:cpp|cmake)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
missing = [block for block in blocks if not any(block in text for text in sources.values())]
for block in missing:
    print(f"{page}: in no file of {folder}:\n{block}")
print(f"{len(blocks) - len(missing)} of {len(blocks)} blocks found")
sys.exit(bool(missing) or not blocks)
