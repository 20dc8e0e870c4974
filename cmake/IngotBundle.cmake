# ingot_add_bundle(NAME SOURCE FILE OUTPUT BUNDLE [TARGETS target...])
#   A target NAME that makes the bundle in the current binary directory at build time.
#   SOURCE   model.cpp: a program that compiles the model and writes BUNDLE into its working directory; it is built with the
#            compiler's libraries and run. step.mlir: StableHLO text.
#   TARGETS  rows of the target table, the best first; default: host. The program finds them in INGOT_TARGETS.
function(ingot_add_bundle name)
  cmake_parse_arguments(arg "" "SOURCE;OUTPUT" "TARGETS" ${ARGN})
  if(NOT arg_TARGETS)
    set(arg_TARGETS host)
  endif()
  string(REPLACE ";" "," targets "${arg_TARGETS}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${arg_OUTPUT})
  cmake_path(ABSOLUTE_PATH arg_SOURCE OUTPUT_VARIABLE source)
  if(arg_SOURCE MATCHES "\\.mlir$")
    add_custom_command(OUTPUT ${output} DEPENDS ${source} ingot
                       COMMAND ingot compile ${source} -o ${output} --target ${targets}
                       COMMENT "Compiling ${arg_OUTPUT}" VERBATIM)
  else()
    add_executable(${name}_model ${arg_SOURCE})
    target_link_libraries(${name}_model PRIVATE ingot_options ingot::compiler)
    add_custom_command(OUTPUT ${output} DEPENDS ${name}_model WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
                       COMMAND ${CMAKE_COMMAND} -E env INGOT_TARGETS=${targets} $<TARGET_FILE:${name}_model>
                       COMMENT "Compiling ${arg_OUTPUT}" VERBATIM)
  endif()
  add_custom_target(${name} ALL DEPENDS ${output})
endfunction()
