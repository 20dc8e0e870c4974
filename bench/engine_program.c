/* A program that opens a bundle in memory, binds and runs: what bench/engine_sizes links with the engine. */
#include <ingot/engine.h>

extern const unsigned char bundle_bytes[];
extern unsigned char bundle_block[], input[], output[];
extern const ingot_memory memory;

ingot_status program(uint64_t bundle_byte_count, uint64_t bundle_block_bytes, uint64_t input_bytes,
                     uint64_t output_bytes, ingot_error* error) {
  ingot_bundle* bundle;
  ingot_session* session;
  uint32_t entry, index;
  ingot_status status =
      ingot_open_memory(bundle_bytes, bundle_byte_count, NULL, bundle_block, bundle_block_bytes, &bundle, error);
  if (status == INGOT_OK) status = ingot_create(bundle, &memory, &session, error);
  if (status == INGOT_OK) status = ingot_find_entry(bundle, "train_step", &entry, error);
  if (status == INGOT_OK) status = ingot_find_input(bundle, entry, "x", &index, error);
  if (status == INGOT_OK) status = ingot_bind_input(session, entry, index, input, input_bytes, error);
  if (status == INGOT_OK) status = ingot_find_output(bundle, entry, "loss", &index, error);
  if (status == INGOT_OK) status = ingot_bind_output(session, entry, index, output, output_bytes, error);
  return status == INGOT_OK ? ingot_run(session, entry, error) : status;
}
