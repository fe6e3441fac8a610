// A notebook served as an HTTP API: its routes, the kernels behind them, and its description.
//
// Owner: Gateway, in the place of the Jupyter API's routes. Loop thread only.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "gateway/http/router.h"
#include "gateway/jupyter/door.h"
#include "gateway/jupyter/notebook_api.h"
#include "gateway/jupyter/notebook_kernels.h"
#include "gateway/jupyter/response_info.h"

namespace cellblock::gateway::jupyter {

struct NotebookAnswer {
    ResponseInfo info;
    std::string body;

    NotebookAnswer() = default;
};

class NotebookService {
  public:
    // The door's seed is the API's setup cells.
    NotebookService(boost::asio::any_io_executor executor, Door& door, NotebookApi api);
    ~NotebookService();

    // The API's paths, and /_api/spec/swagger.json. The service outlives the router.
    void add_routes(http::Router& router);
    boost::asio::awaitable<Result<void>> start(std::size_t kernels);
    void stop() { kernels_->stop(); }

  private:
    boost::asio::awaitable<Result<void>> answer(const NotebookOperation& operation,
                                                http::Request& request,
                                                http::ResponseWriter& writer);
    boost::asio::awaitable<Result<NotebookAnswer>> run(const NotebookOperation& operation,
                                                       std::string statement);

    Door& door_;
    const NotebookApi api_;
    const std::string swagger_;
    std::shared_ptr<NotebookKernels> kernels_;
};

}  // namespace cellblock::gateway::jupyter
