// SPDX-License-Identifier: Apache-2.0
// An empty source file for the target that precompiles the headers of the plugins, because CMake requires a source.
