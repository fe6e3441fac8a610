# The packages we stand on, all from Debian, and what to know of each.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CURL 7.85 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(xeus REQUIRED)
find_package(cppzmq REQUIRED)
find_package(doctest REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)

# Asio (inside Boost, headers only), its own parts compiled once instead of in each of our sources: a
# quarter of a source's build. Deprecated interfaces are off so that none slips in. The definitions are
# everybody's: a precompiled header has to be compiled as its users are.
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_HANDLER_TYPE_REQUIREMENTS=0
                        BOOST_ASIO_SEPARATE_COMPILATION)
add_library(cellblock_asio STATIC ${CMAKE_SOURCE_DIR}/cmake/asio.cc)
add_library(cellblock::asio ALIAS cellblock_asio)
target_link_libraries(cellblock_asio PUBLIC Boost::headers Threads::Threads)
# Its TLS apart: the guest's agent has no OpenSSL.
add_library(cellblock_asio_tls STATIC ${CMAKE_SOURCE_DIR}/cmake/asio_tls.cc)
add_library(cellblock::asio_tls ALIAS cellblock_asio_tls)
target_link_libraries(cellblock_asio_tls PUBLIC cellblock::asio OpenSSL::SSL)

# SQLiteCpp ships no usable CMake package on Debian 12: it is one static library over sqlite3.
find_library(SQLITECPP_LIBRARY SQLiteCpp REQUIRED)
add_library(cellblock_sqlite INTERFACE)
add_library(cellblock::sqlite ALIAS cellblock_sqlite)
target_link_libraries(cellblock_sqlite INTERFACE ${SQLITECPP_LIBRARY} PkgConfig::sqlite3)

# prometheus-cpp: only core (the package also has a web server of its own, which we do not use).
find_library(PROMETHEUS_CORE_LIBRARY prometheus-cpp-core REQUIRED)
add_library(cellblock_prometheus INTERFACE)
add_library(cellblock::prometheus ALIAS cellblock_prometheus)
target_link_libraries(cellblock_prometheus INTERFACE ${PROMETHEUS_CORE_LIBRARY})
