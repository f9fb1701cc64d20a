# SPDX-License-Identifier: Apache-2.0
# A Debian package: `cmake --build BUILD && (cd BUILD && cpack -G DEB)`, configured with -DCMAKE_INSTALL_PREFIX=/usr.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME trainyard)
set(CPACK_PACKAGE_CONTACT "The Trainyard authors <trainyard@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Training as independent components that exchange messages")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Training as independent components that exchange messages
 Trainyard trains models with LibTorch from C++: data loader, accelerator host, optimizer, logger and checkpoint writer are
 components of their own, which a launch file puts into threads, processes and ranks.
 .
 This package holds the program, its plugins, the shipped launch files, and what is needed to build plugins of one's own.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# The libraries that the files name, found by dpkg; those of our own lie where it is told to look.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/lib")
# Chosen before the slower reference BLAS, which would satisfy LibTorch as well.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libopenblas0-pthread")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-zmq")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libtorch-dev, libspdlog-dev, libfmt-dev, nlohmann-json3-dev, libcereal-dev, cppzmq-dev")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/trainyard" RENAME copyright)
include(CPack)
