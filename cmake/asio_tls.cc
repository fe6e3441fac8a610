// Asio's own parts for TLS (libraries.cmake).
#include <boost/asio/ssl/impl/src.hpp>
