# SPDX-License-Identifier: Apache-2.0
"""Replaces the part of the package mlflow that the bridge uses, in tests."""
