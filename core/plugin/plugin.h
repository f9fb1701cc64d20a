// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plugin/abi.h"

namespace trainyard {

class Configurable;

/// The content of `trainyard_plugin_entry`, the only C symbol that a plugin exports. The functions may be called
/// only after the ABI tags have been compared. The caller owns the object that a function returns, and must delete it
/// through the virtual destructor, so that the library that allocated the memory also frees it.
struct PluginEntry {
  const char* abi_tag;
  const char* kind;
  const char* name;
  /// Constructs the plugin. `context` points to an object of the context type of the plugin's kind, and the result
  /// points to an object of the kind's base class. The pointers are untyped because the symbol is C; TRAINYARD_PLUGIN
  /// converts them. May throw.
  void* (*create)(void* context);
  /// Constructs the plugin only to read its declaration and its traits. `where` names the plugin in errors.
  /// `parameters` is a JSON object, or an empty string (not "{}") to give no values. All other members of the plugin's
  /// context are unset.
  Configurable* (*describe)(const char* where, const char* parameters);
};

}  // namespace trainyard

/// Registers a plugin. Each kind of plugin has its own macro that calls TRAINYARD_PLUGIN, such as TRAINYARD_COMPONENT
/// or TRAINYARD_MODEL. Use the macro of the kind, as the last line of the plugin's .cpp.
///
/// The label (PluginLabel) is in a separate ELF section, so that a plugin file can be listed or refused without running
/// any of its code.
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
