# Warnings and sanitizers for every target, and one helper: a target per folder of aot/.

# The compile and link options that every target of the project shares.
add_library(ingot_options INTERFACE)
# Fifty programs are linked: gold, where there is one, does it in a quarter of the time. It does not like sanitizers.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold INGOT_HAS_GOLD)
if(INGOT_HAS_GOLD AND PROJECT_IS_TOP_LEVEL AND NOT INGOT_SANITIZE)
  target_link_options(ingot_options INTERFACE -fuse-ld=gold)
endif()
target_compile_options(ingot_options INTERFACE -Wall -Wextra $<$<BOOL:${INGOT_WERROR}>:-Werror>)
# What the product keeps beyond that (conversions to unsigned aside: a vector's index is one).
set(INGOT_STRICT_WARNINGS
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wshadow;-Wconversion;-Wno-sign-conversion;-Wold-style-cast;-Wextra-semi;-Wnon-virtual-dtor>)
# GCC 12 warns falsely of overlapping copies in std::string (gcc.gnu.org/PR105651).
target_compile_options(ingot_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_compile_options(ingot_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
# Files of a folder are compiled together, where GCC takes their unnamed namespaces for a header's.
target_compile_options(ingot_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
# libstdc++ 12's std::stable_sort calls a function that it deprecates itself.
target_compile_options(ingot_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(INGOT_SANITIZE)
  target_compile_options(ingot_options INTERFACE -fsanitize=${INGOT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ingot_options INTERFACE -fsanitize=${INGOT_SANITIZE})
endif()
# UBSan would look for a type in front of each function that is called by its address; a bundle's kernels have none.
target_compile_options(ingot_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)

# What nearly every file reads. Precompiled headers only save time: a file includes what it uses, and
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON proves it.
set(INGOT_COMMON_HEADERS <algorithm> <functional> <list> <map> <memory> <optional> <set> <span> <stdexcept> <string>
                         <string_view> <variant> <vector> <fmt/format.h>)

# Nearly all of a compilation's time is LLVM's; more optimisation of the rest is felt in the build alone.
set(INGOT_COMPILER_OPTIMIZATION $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -inline-threshold=25>)

# ingot_unity(TARGET): a dozen of its files are one translation unit, which instantiates a template once and saves nearly
# half of the time. So what is local to the files of a folder has different names. The preset `dev`, which warns of
# constants that nobody uses, compiles each file by itself.
function(ingot_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${INGOT_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# ingot_folder(NAME [DEPENDS folder...] [LINK library...] [PRECOMPILE header...])
#   The library ingot_NAME from every *.cc in the current folder and below it. DEPENDS names the folders it may include.
#   Without PRECOMPILE it shares the precompiled headers of ops, or of base if it comes before ops.
function(ingot_folder name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINK;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  if(sources)
    set(scope PUBLIC)
    add_library(ingot_${name} STATIC ${sources})
    target_include_directories(ingot_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(ingot_${name} PRIVATE ingot_options)
    target_compile_options(ingot_${name} PRIVATE ${INGOT_STRICT_WARNINGS})
    target_compile_options(ingot_${name} PRIVATE ${INGOT_COMPILER_OPTIMIZATION})
    ingot_unity(ingot_${name})
    if(arg_PRECOMPILE)
      target_precompile_headers(ingot_${name} PRIVATE ${arg_PRECOMPILE})
    elseif(TARGET ingot_ops)
      target_precompile_headers(ingot_${name} REUSE_FROM ingot_ops)
    else()
      target_precompile_headers(ingot_${name} REUSE_FROM ingot_base)
    endif()
  else()
    set(scope INTERFACE)
    add_library(ingot_${name} INTERFACE)
    target_include_directories(ingot_${name} INTERFACE ${PROJECT_SOURCE_DIR})
  endif()
  foreach(folder IN LISTS arg_DEPENDS)
    target_link_libraries(ingot_${name} ${scope} ingot_${folder})
  endforeach()
  if(arg_LINK)
    target_link_libraries(ingot_${name} ${scope} ${arg_LINK})
  endif()
  set_property(GLOBAL APPEND PROPERTY INGOT_FOLDERS ingot_${name})
endfunction()
