// The part of XLA's foreign function interface (version 0.3) by which programs of JAX call the engine. XLA passes each
// struct with its size and a list of extensions first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::python::xla {

inline constexpr int kMajorVersion = 0;
inline constexpr int kMinorVersion = 3;
inline constexpr int32_t kMetadata = 1;     // the kind of extension by which XLA asks a handler for its metadata
inline constexpr int32_t kInstantiate = 0;  // the stage when a program is compiled or loaded
inline constexpr int32_t kInternal = 13;    // an error code
inline constexpr int32_t kScalarAttribute = 3;

struct Extension {
  size_t struct_size;
  int32_t kind;
  Extension* next;
};

struct Header {
  size_t struct_size;
  Extension* extensions;
};

struct Version {
  Header header;
  int major;
  int minor;
};

struct TypeId {
  int64_t id;
};

struct TypeInfo {
  Header header;
  void (*destroy)(void* object);
};

struct Metadata {
  size_t struct_size;
  Version version;
  uint32_t traits;
  TypeId state_type;  // of what the handler sets as its state
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Buffer {
  Header header;
  int32_t element;
  void* data;
  int64_t rank;
  int64_t* dims;
};

struct Buffers {
  Header header;
  int64_t count;
  int32_t* kinds;
  Buffer** items;
};

struct Text {
  const char* data;
  size_t size;
};

struct Scalar {
  int32_t element;
  void* value;
};

struct Attributes {
  Header header;
  int64_t count;
  int32_t* kinds;
  Text** names;
  void** values;  // of numbers: Scalar
};

struct Error;

struct ErrorArguments {
  Header header;
  const char* message;
  int32_t code;
};

struct StateArguments {
  Header header;
  void* context;
  int32_t stage;
  TypeId* type;
  void* state;
};

struct Api {
  Header header;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArguments* arguments);
  void* unused[6];
  Error* (*set_state)(StateArguments* arguments);
  Error* (*get_state)(StateArguments* arguments);
};

struct CallFrame {
  Header header;
  const Api* api;
  void* context;
  int32_t stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

using Handler = Error*(CallFrame* frame);

}  // namespace ingot::python::xla
