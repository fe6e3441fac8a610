// Saved machine states in a folder, each with what its owner says about it.
//
//   <folder>/<id>/state          state_file.h
//                 manifest.json  size, checksum, template, and the owner's description
//   <folder>/<id>.new/           one that is being saved; renamed when it is complete and synced
//
// At any moment, and after any crash, an id is there whole or not at all. No state of its own:
// methods are for worker threads, and one id is saved or removed by one caller at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "vm/machine/machine_state.h"
#include "vm/snapshot/state_file.h"

namespace cellblock::vm {

struct SavedState {
    std::string id;
    std::string template_key;
    std::uint64_t memory_bytes = 0;  // of its pages, uncompressed
    StateFileSum file;
    std::int64_t created_at_ns = 0;
    Json description;  // an object

    SavedState() = default;
};

class StateStore {
  public:
    explicit StateStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Nothing is left behind after an error. disk_full is one.
    Result<SavedState> save(const std::string& id, const MachineState& state,
                            Json description) const;
    // Replaces the description.
    Result<void> describe(const SavedState& saved) const;
    Result<MachineStatePointer> load(const SavedState& saved) const;
    // Also of one that is not there.
    Result<void> remove(const std::string& id) const;
    // All that are whole, in no order; removes what a crash left half-way. Damaged manifests are
    // logged and left out.
    Result<std::vector<SavedState>> open() const;

  private:
    std::filesystem::path folder_;
};

}  // namespace cellblock::vm
