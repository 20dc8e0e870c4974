# Installs <ingot/ingot.h>, <ingot/finetune.h>, <ingot/lazy.h> and every header that they include, from `source` into
# `destination` of the prefix.

cmake_minimum_required(VERSION 3.25)

# Adds a header of the source tree to `headers`, and those that it includes, unless they are there.
function(add_header path)
  if(path IN_LIST headers)
    return()
  endif()
  list(APPEND headers ${path})
  file(STRINGS ${source}/${path} includes REGEX "^#include \"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" include "${include}")
    add_header(${include})
  endforeach()
  set(headers ${headers} PARENT_SCOPE)
endfunction()

set(headers)
foreach(front aot/include/ingot/ingot.h aot/include/ingot/finetune.h aot/include/ingot/lazy.h)
  add_header(${front})
  list(REMOVE_ITEM headers ${front})
  file(INSTALL ${source}/${front} DESTINATION ${CMAKE_INSTALL_PREFIX}/${destination}/ingot)
endforeach()
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL ${source}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/${destination}/${folder})
endforeach()
