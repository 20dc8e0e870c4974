// Entry points of bundles as custom calls of XLA: JAX's dispatch reads arguments, makes results and calls the engine.
//
// XLA instantiates a call where it compiles or loads a program with it, which then owns a session, and executes it in
// threads of its own. None of this uses Python.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "engine/python/objects.h"
#include "engine/python/xla.h"

namespace ingot::python {
namespace {

// A session of a bundle that XLA's program runs, one thread at a time.
struct Program {
  ~Program() {
    ingot_destroy(session);
    disown(open);
    for (void* block : blocks) std::free(block);
    delete[] bytes;
  }

  std::mutex turn;
  OpenBundle* open = nullptr;
  ingot_session* session = nullptr;
  void* blocks[4] = {};  // session, arena, state, scratch
  uint32_t entry = 0;
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  uint64_t* bytes = nullptr;  // of each input, then of each output
};

xla::TypeId program_type = {};
xla::TypeInfo program_info = {{sizeof(xla::TypeInfo), nullptr},
                              [](void* program) { delete static_cast<Program*>(program); }};

xla::Error* fail(const xla::CallFrame* frame, const char* text) {
  xla::ErrorArguments arguments = {{sizeof arguments, nullptr}, text, xla::kInternal};
  return frame->api->create_error(&arguments);
}

// Says of a handler what XLA asks before it registers it; false if the frame is a call.
bool tell_metadata(xla::CallFrame* frame, xla::TypeId state_type) {
  xla::Extension* extension = frame->header.extensions;
  if (!extension || extension->kind != xla::kMetadata) return false;
  xla::Metadata* metadata = reinterpret_cast<xla::MetadataExtension*>(extension)->metadata;
  metadata->version = {{sizeof metadata->version, nullptr}, xla::kMajorVersion, xla::kMinorVersion};
  metadata->traits = 0;
  metadata->state_type = state_type;
  return true;
}

template <typename Number>
bool read_number(const xla::Attributes& attributes, const char* name, Number* out) {
  for (int64_t i = 0; i < attributes.count; ++i) {
    const xla::Text& found = *attributes.names[i];
    if (found.size != std::strlen(name) || std::memcmp(found.data, name, found.size) != 0) continue;
    std::memcpy(out, static_cast<const xla::Scalar*>(attributes.values[i])->value, sizeof *out);
    return attributes.kinds[i] == xla::kScalarAttribute;
  }
  return false;
}

bool allocate_all(Program* program, ingot_memory* memory) {
  const ingot_requirements& needs = program->open->needs;
  const uint64_t count = memory->threads == 0 ? 1 : memory->threads;
  memory->session_bytes = needs.session_bytes + count * needs.session_bytes_per_thread;
  memory->arena_bytes = needs.arena_bytes;
  memory->state_bytes = needs.state_bytes;
  memory->scratch_bytes = count * needs.scratch_bytes_per_thread;
  const uint64_t sizes[] = {memory->session_bytes, memory->arena_bytes, memory->state_bytes, memory->scratch_bytes};
  for (int i = 0; i < 4; ++i) {
    program->blocks[i] = try_allocate(sizes[i], needs.alignment_bytes);
    if (!program->blocks[i]) return false;
  }
  memory->session = program->blocks[0];
  memory->arena = program->blocks[1];
  memory->state = program->blocks[2];
  memory->scratch = program->blocks[3];
  return true;
}

bool read_sizes(Program* program, ingot_error* error) {
  ingot_entry_info info = {};
  if (ingot_get_entry_info(program->open->bundle, program->entry, &info, error) != INGOT_OK) return false;
  program->input_count = info.input_count;
  program->output_count = info.output_count;
  program->bytes = new (std::nothrow) uint64_t[info.input_count + info.output_count];
  if (!program->bytes) return false;
  ingot_tensor_info tensor = {};
  for (uint32_t i = 0; i < info.input_count; ++i) {
    if (ingot_get_input_info(program->open->bundle, program->entry, i, &tensor, error) != INGOT_OK) return false;
    program->bytes[i] = tensor.bytes;
  }
  for (uint32_t i = 0; i < info.output_count; ++i) {
    if (ingot_get_output_info(program->open->bundle, program->entry, i, &tensor, error) != INGOT_OK) return false;
    program->bytes[info.input_count + i] = tensor.bytes;
  }
  return true;
}

// Makes a session of the program's bundle; false where memory is short, or with what the engine says.
bool start(Program* program, uint32_t threads, ingot_error* error) {
  ingot_memory memory = {};
  memory.threads = threads;
  return allocate_all(program, &memory) &&
         ingot_create(program->open->bundle, &memory, &program->session, error) == INGOT_OK &&
         read_sizes(program, error);
}

// XLA takes the memory of results from malloc, which returns large blocks to the system when they are freed: each step
// of a training loop would fault new pages in, and that takes longer than to compute a step of an optimizer.
void keep_freed_memory() {
#if defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

// The stage where XLA compiles or loads: a session of the bundle with the number `bundle`, for `threads` threads.
xla::Error* instantiate(xla::CallFrame* frame) {
  if (tell_metadata(frame, program_type)) return nullptr;
  uint64_t number = 0;
  uint32_t threads = 0;
  if (!read_number(frame->attributes, "bundle", &number) || !read_number(frame->attributes, "threads", &threads)) {
    return fail(frame, "ingot: a call without a bundle");
  }
  auto* program = new (std::nothrow) Program;
  ingot_error error = {INGOT_OK, "ingot: out of memory"};
  if (!program) return fail(frame, error.text);
  program->open = own_bundle(number);
  if (!program->open) std::snprintf(error.text, sizeof error.text, "ingot: the program is another process's");
  if (!program->open || !start(program, threads, &error)) {
    delete program;
    return fail(frame, error.text);
  }
  xla::StateArguments state = {
      {sizeof state, nullptr}, frame->context, xla::kInstantiate, &program_type, static_cast<void*>(program)};
  xla::Error* failed = frame->api->set_state(&state);
  if (failed) delete program;
  return failed;
}

// Arguments and results are at multiples of 64, as XLA's own code wants them.
bool bind_all(Program* program, const xla::CallFrame* frame, ingot_error* error) {
  for (uint32_t i = 0; i < program->input_count; ++i) {
    const uint64_t bytes = program->bytes[i];
    const void* data = frame->arguments.items[i]->data;
    if (bytes != 0 && ingot_bind_input(program->session, program->entry, i, data, bytes, error) != INGOT_OK)
      return false;
  }
  for (uint32_t i = 0; i < program->output_count; ++i) {
    const uint64_t bytes = program->bytes[program->input_count + i];
    void* data = frame->results.items[i]->data;
    if (bytes != 0 && ingot_bind_output(program->session, program->entry, i, data, bytes, error) != INGOT_OK)
      return false;
  }
  return true;
}

// The stage where XLA runs its program: the entry point on its buffers, in the order of the entry point's ports.
xla::Error* execute(xla::CallFrame* frame) {
  if (tell_metadata(frame, {})) return nullptr;
  xla::StateArguments state = {{sizeof state, nullptr}, frame->context, xla::kInstantiate, &program_type, nullptr};
  if (xla::Error* failed = frame->api->get_state(&state)) return failed;
  auto* program = static_cast<Program*>(state.state);
  if (frame->arguments.count != program->input_count || frame->results.count != program->output_count) {
    return fail(frame, "ingot: the bundle is not the one that was compiled");
  }
  const std::lock_guard<std::mutex> turn(program->turn);
  ingot_error error = {};
  const bool is_done =
      bind_all(program, frame, &error) && ingot_run(program->session, program->entry, &error) == INGOT_OK;
  return is_done ? nullptr : fail(frame, error.text);
}

PyObject* capsule_of(xla::Handler* handler) {
  return PyCapsule_New(reinterpret_cast<void*>(handler), nullptr, nullptr);
}
PyObject* capsule_of(void* data) { return PyCapsule_New(data, nullptr, nullptr); }

}  // namespace

PyObject* xla_call(PyObject*, PyObject*) {
  keep_freed_memory();
  return Py_BuildValue("{s:N,s:N},{s:N,s:N}", "type_id", capsule_of(&program_type), "type_info",
                       capsule_of(&program_info), "instantiate", capsule_of(instantiate), "execute",
                       capsule_of(execute));
}

}  // namespace ingot::python
