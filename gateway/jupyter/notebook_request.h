// What a notebook's cell knows of the HTTP request that it answers: the variable REQUEST, a JSON
// text {body, args, path, headers}, as kernel_gateway's notebook-http mode has it.
//
// Pure. Everything in it comes from a client, and goes into code that is run: dump_ascii() of a
// text is a literal of Python too, which nothing inside can leave.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "gateway/http/request.h"

namespace cellblock::gateway::jupyter {

// JSON and forms become values, where they can be read; all else is text. invalid_argument when it
// is not UTF-8.
Result<Json> notebook_body(std::string_view content_type, std::string_view body);

// The fields of multipart/form-data (RFC 7578), name -> values; files are left out. Null: it is
// malformed.
Json multipart_fields(std::string_view boundary, std::string_view body);

// `secret`: the gateway's token; what holds it is not for guests.
Json notebook_request(const http::Request& request, Json body, std::string_view secret);

// REQUEST = "…"
std::string request_statement(const Json& request);

}  // namespace cellblock::gateway::jupyter
