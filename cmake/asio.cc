// Asio's own parts (libraries.cmake).
#include <boost/asio/impl/src.hpp>
