// The calling thread's file-system identity becomes the sandbox's user for the life of this object:
// files the agent (root) touches on the user's behalf are checked and owned as the user's. Linux
// keeps fsuid per thread, so only a worker thread's job changes. Does nothing unless root.
#pragma once

#include <sys/fsuid.h>
#include <unistd.h>

namespace cellblock::vm::agent {

struct UserIdentity {
    uid_t uid = 0;
    gid_t gid = 0;
};

class AsUser {
  public:
    // Leaving root also takes the capabilities over files away from the thread (capabilities(7)).
    explicit AsUser(UserIdentity user) {
        if (::geteuid() != 0 || user.uid == 0) return;
        ::setfsgid(user.gid);
        ::setfsuid(user.uid);
        changed_ = true;
    }
    ~AsUser() {
        if (!changed_) return;
        ::setfsuid(0);
        ::setfsgid(0);
    }
    AsUser(const AsUser&) = delete;
    AsUser& operator=(const AsUser&) = delete;

  private:
    bool changed_ = false;
};

}  // namespace cellblock::vm::agent
