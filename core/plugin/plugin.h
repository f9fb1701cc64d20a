// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plugin/abi.h"

namespace trainyard {

class Configurable;

/// The content of a plugin's one C symbol. `create` takes a pointer to the kind's context and returns a pointer to the
/// kind's base class; it may throw. It is called only after the ABI tags have been compared. The caller owns the object
/// and deletes it through the virtual destructor, so that the memory is freed by the library that allocated it.
struct PluginEntry {
  const char* abi_tag;
  const char* kind;
  const char* name;
  /// The pointers are untyped, since the symbol is C. TRAINYARD_PLUGIN restores the types on both sides.
  void* (*create)(void* context);
  /// Constructs a plugin only to read its declaration and its facts. `where` names the plugin in errors. `parameters`
  /// is a JSON object, or empty to give no values. The rest of its context is empty.
  Configurable* (*describe)(const char* where, const char* parameters);
};

}  // namespace trainyard

/// Registers a plugin. It is the last line of the plugin's .cpp. Each kind wraps it: TRAINYARD_COMPONENT,
/// TRAINYARD_MODEL, ...
///
/// The label is in an ELF section of its own, so that a file can be listed, and refused, without running any of its
/// code.
#define TRAINYARD_PLUGIN(kind, Base, Context, Class, name, version, description)                             \
  extern "C" {                                                                                               \
  __attribute__((used, section(".trainyard"))) const char trainyard_plugin_label[] =                         \
      kind "\n" name "\n" version "\n" description "\n" TRAINYARD_ABI_TAG;                                   \
  __attribute__((visibility("default"))) extern const ::trainyard::PluginEntry trainyard_plugin_entry;       \
  const ::trainyard::PluginEntry trainyard_plugin_entry = {                                                  \
      TRAINYARD_ABI_TAG, kind, name,                                                                         \
      [](void* context) -> void* { return static_cast<Base*>(new Class(*static_cast<Context*>(context))); }, \
      [](const char* where, const char* parameters) -> ::trainyard::Configurable* {                          \
        Context context{};                                                                                   \
        context.where = where;                                                                               \
        context.parameters = parameters;                                                                     \
        return new Class(context);                                                                           \
      }};                                                                                                    \
  }
