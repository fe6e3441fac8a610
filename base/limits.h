// Every limit of the project, with its reason. One section per folder; relations are asserted.
#pragma once

#include <chrono>
#include <cstddef>

namespace cellblock::limits {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr std::size_t KiB = 1024;
inline constexpr std::size_t MiB = 1024 * KiB;
inline constexpr std::size_t GiB = 1024 * MiB;

// --- vm/link -----------------------------------------------------------------------------------
// A frame's payload: small enough that a control frame never waits long behind a data frame
// (64 KiB at the measured 56 MB/s into a guest is 1.2 ms), large enough that headers cost nothing.
inline constexpr std::size_t link_frame_payload_max_bytes = 64 * KiB;
// What a stream may have in flight unconsumed: four frames keep the pipe busy.
inline constexpr std::size_t link_stream_window_bytes = 256 * KiB;
// Sent and not yet acknowledged, kept for a new connection.
inline constexpr std::size_t link_unacknowledged_max_bytes = 8 * MiB;
// Streams open at once in one VM: kernels, calls and file transfers of one sandbox.
inline constexpr std::size_t link_streams_max = 1024;
// OPEN's parameters and a call's request or reply.
inline constexpr std::size_t link_params_max_bytes = 64 * KiB;
inline constexpr std::size_t link_call_max_bytes = 1 * MiB;
// What the guest writes to its spool while no gateway is there: an hour of chatty output.
inline constexpr std::size_t link_spool_max_bytes = 64 * MiB;
// A Jupyter message through the link. ipywidgets and large figures stay far below; more is refused.
inline constexpr std::size_t kernel_message_max_bytes = 64 * MiB;
inline constexpr std::size_t kernel_message_frames_max = 64;
static_assert(link_frame_payload_max_bytes <= link_stream_window_bytes);
static_assert(link_stream_window_bytes < link_unacknowledged_max_bytes);

// --- base --------------------------------------------------------------------------------------
// Threads for what blocks (SQLite, fsync, hashing): two keep a slow disk from stopping everything.
inline constexpr std::size_t worker_threads = 2;
inline constexpr std::size_t worker_queue_max = 1024;

// --- kernel-proxy ------------------------------------------------------------------------------
// Inline text of one execution (stdout and stderr together); the rest spills to an artifact.
inline constexpr std::size_t execution_inline_text_max_bytes = 1 * MiB;
// What spills per execution; past it bytes are counted, not kept.
inline constexpr std::size_t execution_spill_max_bytes = 256 * MiB;
// Executions waiting on one context.
inline constexpr std::size_t execution_queue_max = 64;
// Source code of one execution.
inline constexpr std::size_t execution_code_max_bytes = 8 * MiB;
// The ladder that ends a cell: interrupt, wait; restart the kernel, wait; kill the VM.
inline constexpr seconds execution_interrupt_grace{3};
inline constexpr seconds execution_restart_grace{20};
// E2B's clients expect a line at least this often.
inline constexpr seconds execution_keepalive_interval{5};
inline constexpr seconds execution_timeout_default{300};
inline constexpr seconds execution_timeout_max{24 * 3600};

// --- artifacts ---------------------------------------------------------------------------------
// One artifact: as much as a file upload may bring in.
inline constexpr std::size_t artifact_max_bytes = 1 * GiB;
// One execution: a cell that saves a thousand figures is a mistake, one that saves fifty is not.
inline constexpr std::size_t artifacts_per_execution_max = 1000;
inline constexpr std::size_t artifact_bytes_per_execution_max = 2 * GiB;
// One tenant, over all executions; a configuration can raise both.
inline constexpr std::size_t artifacts_per_tenant_max = 100'000;
inline constexpr std::size_t artifact_bytes_per_tenant_max = 20 * GiB;
// Free disk that the store never takes: SQLite and the run folders must still be able to write.
inline constexpr std::size_t artifact_disk_reserve_bytes = 256 * MiB;
// The free text beside an artifact (preview, statistics).
inline constexpr std::size_t artifact_metadata_max_bytes = 256 * KiB;
inline constexpr std::size_t artifact_name_max_bytes = 120;
// Rows of one listing.
inline constexpr std::size_t artifact_list_max = 1000;
// What a guest may say about one table. Its preview is for people and LLMs; the data is a file.
inline constexpr std::size_t table_columns_max = 4096;
inline constexpr std::size_t table_preview_rows_max = 200;
inline constexpr std::size_t table_preview_cells_max = 20'000;
inline constexpr std::size_t table_text_max_bytes = 4 * KiB;
inline constexpr std::size_t table_top_values_max = 10;
// Parts of one display (MIME types, and artifacts made of them): honest bundles have below ten.
inline constexpr std::size_t bundle_mime_types_max = 64;
// How far a picture is read to learn its size: JPEG metadata (EXIF, ICC) precedes the frame header.
inline constexpr std::size_t image_sniff_max_bytes = 1 * MiB;
inline constexpr std::size_t svg_sniff_max_bytes = 4 * KiB;
// The document of view=llm: about 5000 tokens unless the caller says otherwise.
inline constexpr std::size_t llm_view_default_bytes = 20 * KiB;
inline constexpr std::size_t llm_view_min_bytes = 512;
inline constexpr std::size_t llm_view_max_bytes = 1 * MiB;
static_assert(artifact_max_bytes <= artifact_bytes_per_execution_max);
static_assert(artifact_bytes_per_execution_max <= artifact_bytes_per_tenant_max);
static_assert(llm_view_min_bytes <= llm_view_default_bytes);

}  // namespace cellblock::limits
