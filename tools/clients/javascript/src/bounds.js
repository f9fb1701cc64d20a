// SPDX-License-Identifier: Apache-2.0
// The limits of docs/wire_format.md, section 8. Data that exceeds a limit is refused before memory is allocated for it.

export const PAYLOADS = 64;
export const DIMENSIONS = 16;
export const TOPIC_BYTES = 200;
export const BODY_BYTES = 64 * 2 ** 20;
export const NESTING = 32;
export const SCHEMA_BYTES = 65536;
export const WINDOW_MESSAGES = 1024;
export const WINDOW_BYTES = 64 * 2 ** 20;
export const SUBSCRIPTIONS = 64;
export const QUESTION_BYTES = 2 ** 20;

// Further limits that only this package has; the page does not limit payloads and answers of the registry.
export const PAYLOAD_BYTES = 2 ** 30;
export const ANSWER_BYTES = 64 * 2 ** 20;
// The largest number of structs, texts and other objects in the lists and maps of one message. A body of 64 MiB could
// contain 64 Mi structs of one byte, which would take gigabytes as objects.
export const OBJECTS = 2 * 2 ** 20;
