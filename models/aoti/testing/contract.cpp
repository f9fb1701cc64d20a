// SPDX-License-Identifier: Apache-2.0
#include "models/testing/contract.h"

#include <fmt/format.h>

#include <filesystem>

namespace trainyard::testing {
namespace {

/// The folder with the packages that make_packages.py makes. It is empty if the build has no Python for it, and not
/// defined if the model is left out.
#ifdef TRAINYARD_AOTI_PACKAGES
constexpr const char* kPackages = TRAINYARD_AOTI_PACKAGES;
#else
constexpr const char* kPackages = "";
#endif

/// A small network for the test's dataset "vectors", whose samples have 6 numbers and one of 3 classes.
const ModelContract aoti("aoti", [](const TemporaryFolder&) {
  const std::string path = std::string(kPackages) + "/net.pt2";
  return ModelCase{.parameters = fmt::format(R"({{"path": "{}", "trust": true}})", path),
                   .data = {"vectors"},
                   .trains = false,
                   .skipped = std::filesystem::exists(path)
                                  ? ""
                                  : "needs a Python with the PyTorch of this LibTorch, which makes " + path};
});

}  // namespace
}  // namespace trainyard::testing
