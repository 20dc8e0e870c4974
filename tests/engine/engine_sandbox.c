/* usage: engine_sandbox FILE.ingot > STATE   Trains where the bundle's code can do no harm: once all is open, the process
 * gives up every system call but write and exit_group, and the kernel ends it at any other. The state goes to a file that
 * was open before. Memory is the limit that is left: what the process has mapped, code from the bundle may read and
 * write, so nothing secret belongs there. */
#define _GNU_SOURCE
#include <ingot/engine.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

static ingot_error error;

static void check(ingot_status status) {
  if (status == INGOT_OK) return;
  fprintf(stderr, "%s\n", error.text);
  exit(1);
}

static void* block(uint64_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, (size_t)bytes + 1) != 0) exit(1);
  for (uint64_t i = 0; i <= bytes; ++i) ((char*)memory)[i] = 0;
  return memory;
}

/* From here on: write, exit_group, and nothing else. */
static void close_the_box(void) {
#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define IF_NOT(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define END(verdict) BPF_STMT(BPF_RET | BPF_K, verdict)
  struct sock_filter filter[] = {
      FIELD(arch),
      IF_NOT(THIS_MACHINE, 5),
      FIELD(nr),
      IF_NOT(SYS_write, 1),
      END(SECCOMP_RET_ALLOW),
      IF_NOT(SYS_exit_group, 1),
      END(SECCOMP_RET_ALLOW),
      END(SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    exit(77); /* this system has no seccomp */
  }
}

/* Inputs of zeros, in this example. */
static void bind_all(const ingot_bundle* bundle, ingot_session* session, uint32_t entry) {
  ingot_entry_info info;
  ingot_tensor_info tensor;
  check(ingot_get_entry_info(bundle, entry, &info, &error));
  for (uint32_t i = 0; i < info.input_count; ++i) {
    check(ingot_get_input_info(bundle, entry, i, &tensor, &error));
    check(ingot_bind_input(session, entry, i, block(tensor.bytes), tensor.bytes, &error));
  }
  for (uint32_t i = 0; i < info.output_count; ++i) {
    check(ingot_get_output_info(bundle, entry, i, &tensor, &error));
    check(ingot_bind_output(session, entry, i, block(tensor.bytes), tensor.bytes, &error));
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ingot_requirements needs;
  check(ingot_probe_file(argv[1], &needs, &error));
  ingot_bundle* bundle;
  check(ingot_open_file(argv[1], NULL, block(needs.bundle_bytes), needs.bundle_bytes, &bundle, &error));
  const ingot_memory memory = {
      .session = block(needs.session_bytes + needs.session_bytes_per_thread),
      .session_bytes = needs.session_bytes + needs.session_bytes_per_thread,
      .arena = block(needs.arena_bytes),
      .arena_bytes = needs.arena_bytes,
      .state = block(needs.state_bytes),
      .state_bytes = needs.state_bytes,
      .scratch = block(needs.scratch_bytes_per_thread),
      .scratch_bytes = needs.scratch_bytes_per_thread,
      .threads = 1,
  };
  ingot_session* session;
  uint32_t init, step;
  check(ingot_create(bundle, &memory, &session, &error));
  check(ingot_find_entry(bundle, "init", &init, &error));
  check(ingot_find_entry(bundle, "train_step", &step, &error));
  bind_all(bundle, session, init);
  bind_all(bundle, session, step);

  close_the_box();
  ingot_status status = ingot_run(session, init, NULL);
  for (int i = 0; i < 20 && status == INGOT_OK; ++i) status = ingot_run(session, step, NULL);
  const int is_written = write(STDOUT_FILENO, memory.state, (size_t)memory.state_bytes) == (ssize_t)memory.state_bytes;
  _exit(status == INGOT_OK && is_written ? 0 : 1);
}
