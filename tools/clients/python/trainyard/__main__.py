# SPDX-License-Identifier: Apache-2.0
from .command import main

main()
