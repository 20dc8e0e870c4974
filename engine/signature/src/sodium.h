// libsodium, ready for use.
#pragma once

#include <sodium.h>

#include "engine/src/error.h"
#include "schema/signature.h"

namespace ingot::engine {

// Needed once before anything else; again, and in several threads at a time, it does no harm.
ingot_status start_sodium(ingot_error* error);

// What a key signs for a bundle of these bytes, of which no signature is a part. libsodium has been started.
ingot_signed_message message_of(const uint8_t* bundle, uint64_t bundle_bytes);

}  // namespace ingot::engine
