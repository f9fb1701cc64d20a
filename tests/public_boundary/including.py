# SPDX-License-Identifier: Apache-2.0
"""including.py FOLDER HEADER: prints the headers in FOLDER that include HEADER, directly or through others of FOLDER."""
import pathlib
import re
import sys

folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2]
includes = {str(header.relative_to(folder)): set(re.findall(r'^#include [<"](.*?)[>"]', header.read_text(), re.M))
            for header in folder.rglob("*.h")}
found = {header for header, included in includes.items() if wanted in included}
while more := {header for header, included in includes.items() if included & found} - found:
    found |= more
for header in sorted(found):
    print(header)
