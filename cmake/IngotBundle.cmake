# ingot_add_bundle(NAME SOURCE source... [OUTPUT FILE] [TARGETS target...] [STATE FILE] [SHAPES name=size...]
#                  [MEMORY_LIMIT bytes...] [MICRO_BATCHES number...] [DEPENDS file...] [HEADER FILE] [EMBED] [STRICT]
#                  [MATH exact|standard|fast])
#   A library NAME to link, and the bundle that it stands for, made at build time in the current binary directory.
#   SOURCE   [ENTRY=]FILE.mlir and FOLDER, any number: programs as ingot.torch, ingot.jax and JAX write them.
#            SCRIPT.py: a program that is run as `python SCRIPT.py FOLDER` and saves its programs there.
#            MODEL.cpp: a program that compiles the model and writes OUTPUT into its working directory. It links
#            ingot::model and runs on this machine: not in a project that is built for another.
#   OUTPUT   what the bundle is called; default: NAME.ingot.
#   TARGETS  rows of the target table, the best first; default: those of `ingot compile`.
#   STATE    safetensors file with first values of the state, or zeros; default: state.safetensors beside the programs.
#   SHAPES   sizes that the programs leave open: batch=32.
#   STRICT   every target gives the same bits.
#   MATH     what convolutions may be made of, as `ingot compile --math`.
#   MEMORY_LIMIT  what a run may take: 4MiB, train_step=4MiB.
#   MICRO_BATCHES  in how many parts the batch is computed: 4, train_step=4, or auto, as few as the limit needs.
#   DEPENDS  what else the bundle is made from.
#   HEADER   a header for C and C++ with the bundle's entry points, types and sizes; NAME brings its folder.
#   EMBED    NAME has the bundle's bytes in it, which the header names; HEADER is then NAME.h unless it is given.

# Adds the command that makes a bundle from texts and folders of texts.
function(_ingot_compile_texts output sources depends options)
  set(inputs)
  foreach(source IN LISTS sources)
    string(REGEX MATCH "^[A-Za-z0-9_.]+=" entry "${source}")
    string(LENGTH "${entry}" entry_length)
    string(SUBSTRING "${source}" ${entry_length} -1 path)
    cmake_path(ABSOLUTE_PATH path NORMALIZE)
    if(IS_DIRECTORY ${path})
      file(GLOB files CONFIGURE_DEPENDS ${path}/*.mlir ${path}/state.safetensors)
      list(APPEND depends ${files})
    else()
      list(APPEND depends ${path})
    endif()
    list(APPEND inputs ${entry}${path})
  endforeach()
  cmake_path(GET output FILENAME file_name)
  add_custom_command(OUTPUT ${output} DEPENDS ${depends} ingot::compiler
                     COMMAND ingot::compiler compile ${inputs} -o ${output} ${options}
                     COMMENT "Compiling ${file_name}" VERBATIM)
endfunction()

# The same from a Python program, which writes the texts.
function(_ingot_compile_script name output script depends options)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  cmake_path(ABSOLUTE_PATH script NORMALIZE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.programs)
  cmake_path(GET output FILENAME file_name)
  add_custom_command(OUTPUT ${output} DEPENDS ${script} ${depends} ingot::compiler
                     COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
                     COMMAND ${Python3_EXECUTABLE} ${script} ${folder}
                     COMMAND ingot::compiler compile ${folder} -o ${output} ${options}
                     COMMENT "Tracing and compiling ${file_name}" VERBATIM)
endfunction()

# The same from C++ programs, which compile what they describe.
function(_ingot_compile_model name output sources depends targets is_strict)
  if(NOT TARGET ingot::model)
    message(FATAL_ERROR "ingot_add_bundle(${name} SOURCE ${sources}): a C++ model needs the compiler's library; install "
                        "the package libingot-model-dev, and build for this machine")
  endif()
  add_executable(${name}_model ${sources})
  target_link_libraries(${name}_model PRIVATE ingot::model $<TARGET_NAME_IF_EXISTS:ingot_options>)
  set(environment --unset=INGOT_TARGETS --unset=INGOT_STRICT)
  if(targets)
    string(REPLACE ";" "," targets "${targets}")
    list(APPEND environment INGOT_TARGETS=${targets})
  endif()
  if(is_strict)
    list(APPEND environment INGOT_STRICT=1)
  endif()
  cmake_path(GET output FILENAME file_name)
  add_custom_command(OUTPUT ${output} DEPENDS ${name}_model ${depends} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
                     COMMAND ${CMAKE_COMMAND} -E env ${environment} $<TARGET_FILE:${name}_model>
                     COMMENT "Compiling ${file_name}" VERBATIM)
endfunction()

# The library NAME: what a program gets by linking it.
function(_ingot_bundle_library name output header is_embedded)
  if(NOT header)
    add_custom_target(${name}_file ALL DEPENDS ${output})
    add_library(${name} INTERFACE)
    add_dependencies(${name} ${name}_file)
    return()
  endif()
  cmake_path(ABSOLUTE_PATH header BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
  cmake_path(GET header PARENT_PATH folder)
  string(MAKE_C_IDENTIFIER ${name} namespace)
  set(options --namespace ${namespace})
  set(made ${header})
  if(is_embedded)
    cmake_path(REPLACE_EXTENSION header LAST_ONLY .bundle.c OUTPUT_VARIABLE source)
    list(APPEND options --embed ${source})
    list(APPEND made ${source})
  endif()
  add_custom_command(OUTPUT ${made} DEPENDS ${output} ingot::compiler
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
                     COMMAND ingot::compiler header ${output} -o ${header} ${options}
                     COMMENT "Writing ${name}'s header" VERBATIM)
  add_custom_target(${name}_file ALL DEPENDS ${output} ${made})
  if(is_embedded)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT C IN_LIST languages)
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX)
    endif()
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${output})
    add_library(${name} STATIC ${source} ${header})
    target_include_directories(${name} PUBLIC ${folder})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${folder})
  endif()
  add_dependencies(${name} ${name}_file)
endfunction()

function(ingot_add_bundle name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED;STRICT" "OUTPUT;STATE;HEADER;MATH"
                        "SOURCE;TARGETS;SHAPES;MEMORY_LIMIT;MICRO_BATCHES;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCE)
    message(FATAL_ERROR "ingot_add_bundle(${name}): say SOURCE and what it is; unknown: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT TARGET ingot::compiler)
    message(FATAL_ERROR "ingot_add_bundle(${name}): the compiler `ingot` is not installed on this machine; install the "
                        "package ingot, or say where it is by -DINGOT_EXECUTABLE=PATH")
  endif()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${name}.ingot)
  endif()
  if(arg_EMBED AND NOT arg_HEADER)
    set(arg_HEADER ${name}.h)
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE OUTPUT_VARIABLE output)
  set(depends)
  foreach(file IN LISTS arg_DEPENDS)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    list(APPEND depends ${file})
  endforeach()
  set(options)
  if(arg_TARGETS)
    string(REPLACE ";" "," targets "${arg_TARGETS}")
    list(APPEND options --target ${targets})
  endif()
  if(arg_SHAPES)
    string(REPLACE ";" "," shapes "${arg_SHAPES}")
    list(APPEND options --shape ${shapes})
  endif()
  if(arg_MATH)
    list(APPEND options --math ${arg_MATH})
  endif()
  if(arg_STRICT)
    list(APPEND options --strict)
  endif()
  foreach(limit IN LISTS arg_MEMORY_LIMIT)
    list(APPEND options --memory-limit ${limit})
  endforeach()
  foreach(number IN LISTS arg_MICRO_BATCHES)
    list(APPEND options --micro-batches ${number})
  endforeach()
  if(arg_STATE STREQUAL zeros)
    list(APPEND options --state zeros)
  elseif(arg_STATE)
    cmake_path(ABSOLUTE_PATH arg_STATE NORMALIZE)
    list(APPEND depends ${arg_STATE})
    list(APPEND options --state ${arg_STATE})
  endif()
  if(arg_SOURCE MATCHES "\\.py$")
    _ingot_compile_script(${name} ${output} "${arg_SOURCE}" "${depends}" "${options}")
  elseif(arg_SOURCE MATCHES "\\.(cpp|cc|cxx)$")
    if(arg_STATE OR arg_SHAPES OR arg_MEMORY_LIMIT OR arg_MICRO_BATCHES OR arg_MATH)
      message(FATAL_ERROR "ingot_add_bundle(${name} SOURCE ${arg_SOURCE}): a C++ model says itself what its state and "
                          "shapes are and what it may take; STATE, SHAPES, MATH, MEMORY_LIMIT and MICRO_BATCHES are for "
                          "programs in text")
    endif()
    _ingot_compile_model(${name} ${output} "${arg_SOURCE}" "${depends}" "${arg_TARGETS}" ${arg_STRICT})
  else()
    _ingot_compile_texts(${output} "${arg_SOURCE}" "${depends}" "${options}")
  endif()
  _ingot_bundle_library(${name} ${output} "${arg_HEADER}" "${arg_EMBED}")
endfunction()
