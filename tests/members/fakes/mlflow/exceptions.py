# SPDX-License-Identifier: Apache-2.0
"""Stands for mlflow.exceptions."""


class MlflowException(Exception):
    def __init__(self, text, error_code):
        super().__init__(f"{error_code}: {text}")
        self.error_code = error_code
