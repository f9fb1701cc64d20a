# SPDX-License-Identifier: Apache-2.0
"""Replaces mlflow.exceptions in tests."""


class MlflowException(Exception):
    def __init__(self, text, error_code):
        super().__init__(f"{error_code}: {text}")
        self.error_code = error_code
