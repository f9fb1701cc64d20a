// SPDX-License-Identifier: Apache-2.0
// The precompiled headers of the plugins are a property of a target, and a target needs a source.
