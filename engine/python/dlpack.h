// The part of DLPack's binary interface (version 1) by which tensors of other frameworks are read where they lie.
// A type of tensors has the functions in a capsule `dlpack_exchange_api`, as its `__dlpack_c_exchange_api__`.
#pragma once

#include <cstdint>

namespace ingot::python::dlpack {

inline constexpr uint32_t kMajorVersion = 1;
inline constexpr int32_t kProcessor = 1;  // the kind of device whose memory this process reads

struct ElementType {
  uint8_t kind;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  int32_t device_kind;
  int32_t device_index;
  int32_t rank;
  ElementType element;
  int64_t* dims;
  int64_t* strides;  // in elements
  uint64_t offset_bytes;
};

struct Api {
  uint32_t major_version;
  uint32_t minor_version;
  Api* previous;
  void* unused[3];  // allocate, export, import
  // Describes a tensor for as long as it lives and stays as it is: 0, or -1 with an exception. May be null.
  int (*describe)(void* object, Tensor* out);
  void* current_work_stream;
};

}  // namespace ingot::python::dlpack
