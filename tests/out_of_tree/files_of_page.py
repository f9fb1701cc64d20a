#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""files_of_page.py PAGE FOLDER: writes the files that a page shows. A file is a block of code under a line "`name`:"."""
import pathlib
import re
import sys

page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
files = re.findall(r"^`([\w.]+)`:\n```\w+\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
for name, text in files:
    (folder / name).write_text(text, encoding="utf-8")
print(f"{page}: {', '.join(name for name, _ in files)}")
sys.exit(not files)
