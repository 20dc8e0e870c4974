# Linux on aarch64, by Debian's cross compiler (g++-aarch64-linux-gnu); libraries are those of Debian's packages for arm64
# (zlib1g-dev:arm64). What is built runs here in QEMU (qemu-user), tests among it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
