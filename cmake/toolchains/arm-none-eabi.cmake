# A Cortex-M7 without an operating system, by Debian's cross compiler (gcc-arm-none-eabi, libstdc++-arm-none-eabi-newlib).
# What the engine takes of newlib are headers, and functions that copy, compare and clear memory.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # programs are linked for a board
set(board "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16")
set(CMAKE_C_FLAGS_INIT "${board}")
# uint32_t is a long here, which texts of errors print as what it is elsewhere: there compilers look at them.
set(CMAKE_CXX_FLAGS_INIT "${board} -Wno-format")
