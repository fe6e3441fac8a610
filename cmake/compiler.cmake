# The language level, the warnings and the sanitizers: the same for every target.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  message(FATAL_ERROR
    "g++ ${CMAKE_CXX_COMPILER_VERSION} destroys some temporaries twice in co_await statements, so what it "
    "builds from this code corrupts memory. Use clang-19 (Debian 12: apt-get install clang-19, then "
    "cmake --preset release) or g++ 13 or newer.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Line tables are all that a backtrace needs; full debug information costs a quarter of the build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-g1")

option(CELLBLOCK_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(CELLBLOCK_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(CELLBLOCK_SHARE_HEADERS "Precompile common headers: builds twice as fast, hides missing includes"
       ${CELLBLOCK_SANITIZE})
option(CELLBLOCK_WERROR "Treat warnings as errors" ON)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                    -Wimplicit-fallthrough -fno-omit-frame-pointer)
if(CELLBLOCK_WERROR)
  add_compile_options(-Werror)
endif()
if(CELLBLOCK_SANITIZE)
  # Not optimized: coroutines build in half the time of -O1, and nothing that is wrong is folded away.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -O0)
  add_link_options(-fsanitize=address,undefined)
endif()
if(CELLBLOCK_FUZZ)
  # Coverage of the libraries too: a fuzzer that sees only its own file mutates blindly.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
