# SPDX-License-Identifier: Apache-2.0
"""The part of the package mlflow that the bridge uses."""
