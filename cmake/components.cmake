# How a folder of ours becomes a target. Headers are included from the repository root
# ("vm/link/codec.h"), and only by targets that link their owner.

# What nearly every source includes, compiled once: half of a build's time. Not where people work on
# the code (`cmake --preset release` by hand), so that a missing #include shows.
if(CELLBLOCK_SHARE_HEADERS)
  add_library(cellblock-headers OBJECT ${CMAKE_SOURCE_DIR}/cmake/headers.cc)
  target_precompile_headers(cellblock-headers PRIVATE ${CMAKE_SOURCE_DIR}/cmake/headers.h)
endif()
function(cellblock_share_headers target)
  if(TARGET cellblock-headers)
    target_precompile_headers(${target} REUSE_FROM cellblock-headers)
    target_link_libraries(${target} PRIVATE cellblock::asio)  # its headers are among them
  endif()
endfunction()

# cellblock_library(NAME vm-link SOURCES ... LINKS ... [PRIVATE_LINKS ...])
# A static library, alias cellblock::NAME. LINKS are what the headers need, PRIVATE_LINKS what only
# the sources need.
function(cellblock_library)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(cellblock-${arg_NAME} STATIC ${arg_SOURCES})
  add_library(cellblock::${arg_NAME} ALIAS cellblock-${arg_NAME})
  cellblock_share_headers(cellblock-${arg_NAME})
  target_include_directories(cellblock-${arg_NAME} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(cellblock-${arg_NAME} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
endfunction()

# Everything that checks without a microVM: unit tests, corpus replays, fuzz targets.
add_custom_target(checks)

# cellblock_test(NAME vm-link SOURCES ... LINKS ...)
# A doctest program unit-NAME, registered with ctest under the same name.
function(cellblock_test)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS" ${ARGN})
  add_executable(unit-${arg_NAME} ${arg_SOURCES} ${CMAKE_SOURCE_DIR}/tests/unit/main.cc)
  cellblock_share_headers(unit-${arg_NAME})
  target_compile_options(unit-${arg_NAME} PRIVATE -fPIC)  # as libraries are, whose headers it shares
  target_link_libraries(unit-${arg_NAME} PRIVATE ${arg_LINKS} doctest::doctest)
  add_test(NAME unit-${arg_NAME} COMMAND unit-${arg_NAME})
  add_dependencies(checks unit-${arg_NAME})
endfunction()

# cellblock_fuzzer(NAME link_frame SOURCES ... LINKS ...)
# A libFuzzer program fuzz-NAME (only with CELLBLOCK_FUZZ); its corpus is tests/fuzz/corpus/NAME.
# Without libFuzzer the same source is replayed over its corpus by a unit test (tests/fuzz/replay.cc).
function(cellblock_fuzzer)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS" ${ARGN})
  if(CELLBLOCK_FUZZ)
    add_executable(fuzz-${arg_NAME} ${arg_SOURCES})
    target_link_libraries(fuzz-${arg_NAME} PRIVATE ${arg_LINKS})
    target_compile_options(fuzz-${arg_NAME} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz-${arg_NAME} PRIVATE -fsanitize=fuzzer)
    add_dependencies(checks fuzz-${arg_NAME})
  endif()
  add_executable(replay-${arg_NAME} ${arg_SOURCES} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.cc)
  target_link_libraries(replay-${arg_NAME} PRIVATE ${arg_LINKS})
  add_dependencies(checks replay-${arg_NAME})
  add_test(NAME replay-${arg_NAME}
           COMMAND replay-${arg_NAME} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${arg_NAME})
endfunction()
