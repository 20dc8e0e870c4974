#include "engine/src/files/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/src/file_bytes.h"

namespace ingot::engine {
namespace {

ingot_status system_error(const char* what, const char* path, ingot_error* error) {
  return fail(error, INGOT_FILE_FAILED, "cannot %s %.150s: %s", what, path, std::strerror(errno));
}

void numbered(const NewFile& file, const char* suffix, uint32_t number, Path& out) {
  std::snprintf(out, sizeof out, "%s%s%u", file.place.path, suffix, number);
}

void partial_path(const NewFile& file, uint32_t number, Path& out) { numbered(file, ".partial", number, out); }

// Makes a file that nothing had that name; errno is EEXIST if something has, or if it was taken away at once.
int create(const char* path, mode_t mode) {
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0) return descriptor;
  struct stat status;
  const bool is_locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;  // or knows no locks
  if (is_locked && fstat(descriptor, &status) == 0 && status.st_nlink > 0) return descriptor;
  close(descriptor);
  errno = EEXIST;
  return -1;
}

// Removes a partial file that no saver is at work on. Returns whether it did.
bool remove_abandoned(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat locked, named;
  const bool is_abandoned = flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &locked) == 0 &&
                            lstat(path, &named) == 0 && named.st_ino == locked.st_ino;
  const bool is_removed = is_abandoned && unlink(path) == 0;
  close(descriptor);
  return is_removed;
}

bool sync(int descriptor) {
  int result;
  do {
    result = fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// Where a file system has no hard links.
bool copy_file(const char* from, const char* to, mode_t mode) {
  FileBytes file;
  if (read_file(from, &file, nullptr) != INGOT_OK) return false;
  const int descriptor = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  const bool is_written = descriptor >= 0 && write_all(descriptor, file.bytes, file.byte_count) && sync(descriptor);
  free_bytes(&file);
  if (descriptor >= 0) close(descriptor);
  return is_written;
}

// Gives the file in place a second name, `previous`. It keeps its own, and `previous` is whole at every instant.
bool keep_previous(const NewFile& file) {
  struct stat status;
  if (stat(file.place.path, &status) != 0 && errno == ENOENT) return true;
  Path older;
  numbered(file, ".older", file.number, older);
  unlink(older);
  if (link(file.place.path, older) != 0 && !copy_file(file.place.path, older, status.st_mode & 0777)) return false;
  const bool is_kept = rename(older, file.place.previous) == 0;
  const int reason = errno;
  unlink(older);  // where both are one file already, the rename leaves it
  errno = reason;
  return is_kept;
}

// Makes a rename in the directory of `path` last through a power failure. Not every file system can: then it is done.
void sync_directory(const char* path) {
  Path directory;
  std::snprintf(directory, sizeof directory, "%s", path);
  char* slash = std::strrchr(directory, '/');
  if (!slash) {
    std::strcpy(directory, ".");
  } else {
    slash[slash == directory ? 1 : 0] = 0;
  }
  const int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

ingot_status find_place(const char* path, FilePlace* out, ingot_error* error) {
  if (std::strlen(path) >= sizeof out->path) {
    return fail(error, INGOT_FILE_FAILED, "the path is longer than %u bytes", kPathBytesMax - 1);
  }
  std::strcpy(out->path, path);
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode) && !realpath(path, out->path)) {
    return system_error("follow the link", path, error);
  }
  std::snprintf(out->previous, sizeof out->previous, "%s.previous", out->path);
  return INGOT_OK;
}

ingot_status begin(const char* path, NewFile* out, ingot_error* error) {
  INGOT_TRY(find_place(path, &out->place, error));
  struct stat old;
  const bool replaces = stat(out->place.path, &old) == 0;
  if (replaces && !S_ISREG(old.st_mode)) {
    return fail(error, INGOT_FILE_FAILED, "cannot save as %.150s: it is not a regular file", path);
  }
  Path partial;
  const mode_t mode = replaces ? old.st_mode & 0777 : 0666;
  for (out->number = 0;; ++out->number) {
    partial_path(*out, out->number, partial);
    out->descriptor = create(partial, mode);
    if (out->descriptor >= 0) break;
    if (errno != EEXIST) return system_error("create", partial, error);
  }
  if (!replaces) return INGOT_OK;
  // Not everyone may give a file away; then it is the saver's own.
  static_cast<void>(fchown(out->descriptor, old.st_uid, old.st_gid) == 0 ||
                    fchown(out->descriptor, getuid(), old.st_gid) == 0);
  fchmod(out->descriptor, mode);
  return INGOT_OK;
}

ingot_status finish(NewFile* file, ingot_error* error) {
  if (!sync(file->descriptor)) return give_up(file, error);
  Path partial, other;
  partial_path(*file, file->number, partial);
  const bool is_done = keep_previous(*file) && rename(partial, file->place.path) == 0;
  const int reason = errno;
  sync_directory(file->place.path);
  for (uint32_t i = 0, is_over = 0; !is_over; ++i) {
    partial_path(*file, i, other);
    is_over = i != file->number && !remove_abandoned(other) && i > file->number;
  }
  close(file->descriptor);
  if (is_done) return INGOT_OK;
  return fail(error, INGOT_FILE_FAILED, "cannot replace %.90s: %s; what was saved is whole in %.90s", file->place.path,
              std::strerror(reason), partial);
}

ingot_status give_up(NewFile* file, ingot_error* error) {
  Path partial;
  partial_path(*file, file->number, partial);
  const ingot_status status = system_error("write", partial, error);
  unlink(partial);
  close(file->descriptor);
  return status;
}

}  // namespace ingot::engine
