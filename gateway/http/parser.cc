#include "gateway/http/parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "base/limits.h"

namespace cellblock::gateway::http {

namespace beast = boost::beast;

class RequestParser::Impl : public beast::http::basic_parser<true> {
  public:
    RequestHead head;
    Bytes* decoded = nullptr;

  private:
    void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                         int version, beast::error_code&) override {
        head.method.assign(method.data(), method.size());
        head.target.assign(target.data(), target.size());
        head.minor_version = version % 10;
    }
    void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
    void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                       beast::error_code& ec) override {
        if (is_header_done()) {
            // A trailer. Nobody needs one, and framing fields in trailers are an attack.
            ec = beast::http::error::bad_field;
            return;
        }
        head.headers.add(std::string_view(name.data(), name.size()),
                         std::string_view(value.data(), value.size()));
    }
    void on_header_impl(beast::error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
    std::size_t on_body_impl(beast::string_view body, beast::error_code&) override {
        append(body);
        return body.size();
    }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body,
                                   beast::error_code&) override {
        append(body);
        return body.size();
    }
    void on_finish_impl(beast::error_code&) override {}

    void append(beast::string_view body) {
        const ByteView view = as_bytes(std::string_view(body.data(), body.size()));
        decoded->insert(decoded->end(), view.begin(), view.end());
    }
    // is_header_done() of the base is already true while trailers are parsed.
};

RequestParser::RequestParser() : impl_(std::make_unique<Impl>()) {
    // check_head() and the connection's fixed buffer bound the head; the body's limit is the
    // route's.
    impl_->header_limit(static_cast<std::uint32_t>(2 * limits::http_head_max_bytes));
    impl_->body_limit(boost::none);
    impl_->eager(false);
}
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;
RequestParser::~RequestParser() = default;

Result<RequestHead> RequestParser::parse_head(std::string_view head) {
    beast::error_code ec;
    Bytes none;
    impl_->decoded = &none;
    const std::size_t used = impl_->put(boost::asio::buffer(head.data(), head.size()), ec);
    if (ec || !impl_->is_header_done() || used != head.size()) {
        return fail(ErrorCode::invalid_argument,
                    "the request head is malformed" + (ec ? ": " + ec.message() : std::string()));
    }
    RequestHead parsed = std::move(impl_->head);
    parsed.keep_alive = impl_->keep_alive();
    parsed.chunked = impl_->chunked();
    parsed.content_length = impl_->content_length().value_or(0);
    return parsed;
}

Result<std::size_t> RequestParser::parse_body(ByteView input, Bytes& decoded) {
    impl_->decoded = &decoded;
    std::size_t taken = 0;
    while (!impl_->is_done() && taken < input.size()) {
        beast::error_code ec;
        const ByteView rest = input.subspan(taken);
        const std::size_t used = impl_->put(boost::asio::buffer(rest.data(), rest.size()), ec);
        taken += used;
        if (ec == beast::http::error::need_more) break;
        if (ec) {
            return fail(ErrorCode::invalid_argument,
                        "the request body's chunked encoding is malformed: " + ec.message());
        }
        if (used == 0) break;
    }
    return taken;
}

bool RequestParser::done() const {
    return impl_->is_done();
}

}  // namespace cellblock::gateway::http
