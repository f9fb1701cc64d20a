# SPDX-License-Identifier: Apache-2.0
"""Replaces mlflow.entities in tests."""
import collections

Metric = collections.namedtuple("Metric", "key value timestamp step")
Param = collections.namedtuple("Param", "key value")
