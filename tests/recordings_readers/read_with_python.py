# SPDX-License-Identifier: Apache-2.0
"""Prints a summary of an MCAP file and then its messages, one line of JSON each (readers_test.py)."""
import json
import sys

from mcap.reader import make_reader

with open(sys.argv[1], "rb") as file:
    reader = make_reader(file, validate_crcs=True)
    summary = reader.get_summary()
    print(json.dumps({
        "messages": summary.statistics.message_count,
        "schemas": {schema.name: json.loads(schema.data) for schema in summary.schemas.values()},
        "metadata": sorted(record.name for record in reader.iter_metadata()),
    }))
    for schema, channel, message in reader.iter_messages():
        assert schema.encoding == "jsonschema" and channel.message_encoding == "json"
        print(json.dumps({
            "topic": channel.topic,
            "type": schema.name,
            "schema": channel.metadata["schema"],
            "component": channel.metadata["component"],
            "sequence": message.sequence,
            "log_time": str(message.log_time),
            "publish_time": str(message.publish_time),
            "message": message.data.decode("utf-8"),
        }))
