# Objects that the linker's proofs must reject.
function(add_rejected_object name)
  add_library(codegen_${name} OBJECT codegen_objects.c)
  target_compile_definitions(codegen_${name} PRIVATE ${name})
  target_compile_options(codegen_${name} PRIVATE -O1 -fvisibility=hidden)
  add_dependencies(codegen_test codegen_${name})
  target_compile_definitions(codegen_test PRIVATE INGOT_${name}="$<TARGET_OBJECTS:codegen_${name}>")
endfunction()

foreach(name NEEDS_SYMBOL NEEDS_RELOCATION NEEDS_DATA)
  add_rejected_object(${name})
endforeach()
