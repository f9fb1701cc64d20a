# SPDX-License-Identifier: Apache-2.0
"""The limits of docs/wire_format.md, section 8. Data that exceeds a limit is refused before memory is allocated for
it."""
from __future__ import annotations

PAYLOADS = 64
DIMENSIONS = 16
TOPIC_BYTES = 200
BODY_BYTES = 64 << 20
NESTING = 32
SCHEMA_BYTES = 65536
WINDOW_MESSAGES = 1024
WINDOW_BYTES = 64 << 20
SUBSCRIPTIONS = 64
CONTROL_BYTES = 4096
QUESTION_BYTES = 1 << 20

# Further limits that only this package has; the page does not limit payloads and answers of the registry.
PAYLOAD_BYTES = 1 << 30
ANSWER_BYTES = 64 << 20
# The largest number of structs, texts and other objects in the lists and maps of one message. A body of 64 MiB could
# contain 64 Mi structs of one byte, which would take 15 GB as dictionaries.
OBJECTS = 2 << 20
