# SPDX-License-Identifier: Apache-2.0
"""Stands for mlflow.entities."""
import collections

Metric = collections.namedtuple("Metric", "key value timestamp step")
Param = collections.namedtuple("Param", "key value")
