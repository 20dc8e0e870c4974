# Linux on riscv64 (rv64gc), by Debian's cross compiler (g++-riscv64-linux-gnu). Debian 12 has no other packages for it:
# libraries lie beside its C library, where cmake/toolchains/riscv64_libraries puts those that the engine and its tests
# link. What is built runs here in QEMU (qemu-user), tests among it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(CMAKE_PREFIX_PATH /usr/riscv64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-riscv64 -L /usr/riscv64-linux-gnu)
