#include "gateway/jupyter/door.h"

namespace cellblock::gateway::jupyter {

void add_routes(http::Router& router, Door& door) {
    add_kernel_routes(router, door);
    add_channel_routes(router, door);
    add_kernelspec_routes(router, door);
    add_service_routes(router, door);
}

}  // namespace cellblock::gateway::jupyter
