# SPDX-License-Identifier: Apache-2.0
# Compiles SOURCE with FIELD and fails unless the outcome is EXPECTED: "compiles", or a text that the errors contain.
execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fsyntax-only "-I${INCLUDE}" "-DFIELD=${FIELD}" "${SOURCE}"
  RESULT_VARIABLE result ERROR_VARIABLE errors OUTPUT_VARIABLE output)
if(EXPECTED STREQUAL "compiles")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "a field of type ${FIELD} should compile:\n${errors}")
  endif()
elseif(result EQUAL 0)
  message(FATAL_ERROR "a field of type ${FIELD} compiles, and should not")
elseif(NOT errors MATCHES "${EXPECTED}")
  message(FATAL_ERROR "a field of type ${FIELD} fails, but not with '${EXPECTED}':\n${errors}")
endif()
