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

// --- vm/link ----------------------------------------------------------------------------------
// A frame's payload: small enough that a control frame never waits long behind a data frame
// (64 KiB at the measured 56 MB/s into a guest is 1.2 ms), large enough that headers cost nothing.
inline constexpr std::size_t link_frame_payload_max_bytes = 64 * KiB;
// What a stream may have in flight unconsumed: four frames keep the pipe busy.
inline constexpr std::size_t link_stream_window_bytes = 256 * KiB;
// Sent and not yet acknowledged, kept for a new connection.
inline constexpr std::size_t link_unacknowledged_max_bytes = 8 * MiB;
// Streams open at once in one VM: kernels, calls and file transfers of one sandbox.
inline constexpr std::size_t link_streams_max = 1024;
// Frames that open, reset and credit streams, sent and not acknowledged: an honest peer has some
// per stream. At this number nothing more is opened; at twice it the guest is at fault.
inline constexpr std::size_t link_control_backlog_max = 8 * link_streams_max;
// OPEN's parameters and a call's request or reply.
inline constexpr std::size_t link_params_max_bytes = 64 * KiB;
inline constexpr std::size_t link_call_max_bytes = 1 * MiB;
// The cause and the advice that a RESET carries, each: sentences for people.
inline constexpr std::size_t link_reset_text_max_bytes = 4 * KiB;
// What the guest writes to its spool while no gateway is there: an hour of chatty output.
inline constexpr std::size_t link_spool_max_bytes = 64 * MiB;
// A Jupyter message through the link. ipywidgets and large figures stay far below; more is refused.
inline constexpr std::size_t kernel_message_max_bytes = 64 * MiB;
inline constexpr std::size_t kernel_message_frames_max = 64;
static_assert(link_frame_payload_max_bytes <= link_stream_window_bytes);
static_assert(link_stream_window_bytes < link_unacknowledged_max_bytes);

// --- vm/agent ---------------------------------------------------------------------------------
// What waits in the agent per kernel and channel on its way to the host; then the kernel is paced.
inline constexpr std::size_t agent_inbox_max_bytes = 1 * MiB;
// ... and on its way to the kernel; then the host's stream is.
inline constexpr std::size_t agent_outbox_max_bytes = 8 * MiB;
// Messages that ZeroMQ itself holds: a kernel's output is cut into 256 KiB, so 4 MiB on iopub.
inline constexpr int agent_iopub_high_water_mark = 16;
inline constexpr int agent_reply_high_water_mark = 64;
// One frame past this breaks the connection to the kernel instead of being received and dropped.
inline constexpr std::size_t agent_zmq_frame_max_bytes = 256 * MiB;
static_assert(agent_zmq_frame_max_bytes > kernel_message_max_bytes);
// Processes and threads: what is past it fails with EAGAIN, and another kernel still starts.
inline constexpr int agent_kernel_pids_max = 256;
inline constexpr int agent_sandbox_pids_max = 512;
// Processes of one kernel, threads not counted. A kernel with more is killed: without KVM a loop of
// os.fork() makes some 20 copies of the kernel a second, each slower than the one before, and would
// fill the memory only after half a minute (seen: 24 to 46 s), deaf to every interrupt.
inline constexpr std::size_t agent_kernel_processes_max = 64;
// How often they are counted: seldom while their number stays the same, since each look wakes an
// idle guest (1 ms of emulation; a host has hundreds of them).
inline constexpr milliseconds agent_kernel_processes_interval_min{1000};
inline constexpr milliseconds agent_kernel_processes_interval_max{4000};
inline constexpr std::size_t agent_kernels_max = 32;
inline constexpr std::size_t agent_memory_limit_min_bytes = 64 * MiB;
inline constexpr std::size_t agent_events_queued_max = 256;
// File transfers: what is read at once, what may be dirty, what one listing may hold (a reply of
// 1 MiB: some 200 bytes an entry, and its names).
inline constexpr std::size_t agent_list_paths_max_bytes = 384 * KiB;
inline constexpr std::size_t agent_file_piece_bytes = 256 * KiB;
inline constexpr std::size_t agent_file_flush_bytes = 32 * MiB;
inline constexpr std::size_t agent_list_entries_max = 2000;
// Starting: without KVM ipykernel takes half a minute the plain way, and a zygote's imports a
// minute.
inline constexpr seconds agent_zygote_start_timeout{180};
inline constexpr seconds agent_zygote_fork_timeout{30};
inline constexpr seconds agent_kernel_start_timeout{300};
inline constexpr seconds agent_template_timeout{600};
// Ending: shutdown_request gets this long, then SIGKILL; that long until all is reaped.
inline constexpr milliseconds agent_kernel_stop_grace{2000};
inline constexpr milliseconds agent_kernel_kill_wait{10'000};
// A dead kernel's last messages are still in its sockets.
inline constexpr milliseconds agent_kernel_last_words{100};
// Nearly as long as the claim that asks for it (machine_claim_timeout): 64 emulated children on two
// cores answered within 10 s but for three of them.
inline constexpr milliseconds agent_reseed_timeout{25'000};

// --- base -------------------------------------------------------------------------------------
// Threads for what blocks (SQLite, fsync, hashing): two keep a slow disk from stopping everything.
inline constexpr std::size_t worker_threads = 2;
inline constexpr std::size_t worker_queue_max = 1024;

// --- kernel-proxy ------------------------------------------------------------------------------
// Inline text of one execution (stdout and stderr together); the rest spills to an artifact.
inline constexpr std::size_t execution_inline_text_max_bytes = 1 * MiB;
// Pictures, pages and data that go inline per execution (a plotly page: 5 MB).
inline constexpr std::size_t execution_inline_rich_max_bytes = 16 * MiB;
// What spills per execution; past it bytes are counted, not kept.
inline constexpr std::size_t execution_spill_max_bytes = 256 * MiB;
// Executions waiting on one context.
inline constexpr std::size_t execution_queue_max = 64;
// Events that wait for a slow consumer; past it the kernel is paced. One message may overshoot it.
inline constexpr std::size_t execution_queue_max_bytes = 4 * MiB;
// A Jupyter header is a few hundred bytes; subshell and debugger fields stay far below this.
inline constexpr std::size_t kernel_header_max_bytes = 64 * KiB;
// Source code of one execution.
inline constexpr std::size_t execution_code_max_bytes = 8 * MiB;
// The ladder that ends a cell: interrupt, wait, twice; restart the kernel, wait; kill the VM.
inline constexpr int execution_interrupts_max = 2;
inline constexpr milliseconds execution_interrupt_grace{2500};
inline constexpr seconds execution_restart_grace{30};
// The reply and `idle` come together; when one is lost, the execution ends all the same after this.
inline constexpr seconds execution_tail_grace{10};
// A kernel process without the fork server imports everything anew: 24 s under emulation.
inline constexpr seconds kernel_start_timeout{120};
inline constexpr seconds kernel_signal_timeout{2};
// A guest that keeps resetting its kernel streams without a message between is broken or hostile.
inline constexpr std::size_t kernel_stream_losses_max = 8;
inline constexpr seconds kernel_stop_timeout{10};
// E2B's clients expect a line at least this often.
inline constexpr seconds execution_keepalive_interval{5};
inline constexpr seconds execution_timeout_default{300};
inline constexpr seconds execution_timeout_max{24 * 3600};

// --- kernel-proxy: Jupyter clients ------------------------------------------------------------
// What a kernel's journal keeps for clients that are behind or away: minutes of a notebook's
// output; a hundred busy kernels stay below 1 GiB.
inline constexpr std::size_t journal_max_bytes = 8 * MiB;
inline constexpr std::size_t journal_entries_max = 32 * 1024;
// A client that is further behind than the journal is waited for: this long if others keep up,
inline constexpr seconds client_patience{1};
// and this long since any of them has taken something if all are behind. Then it is closed.
inline constexpr seconds client_stall_timeout{10};
// Sessions whose place in the journal is kept, per kernel: open tabs and those that may come back.
inline constexpr std::size_t client_sessions_max = 256;
inline constexpr std::size_t client_session_name_max_bytes = 256;
// A client that connects again waits at most this long for its old connection to be read out.
inline constexpr seconds client_takeover_timeout{1};
// Requests of clients that have no reply yet, per kernel: "run all" of a huge notebook.
inline constexpr std::size_t client_requests_open_max = 16 * 1024;
// A reply waits for its `idle` at most this long; then it goes out alone.
inline constexpr seconds reply_hold_timeout{10};
// The kernel asks for input and the client is away: clients reconnect within seconds.
inline constexpr seconds input_orphan_grace{10};

// --- kernel-proxy/zmq -------------------------------------------------------------------------
// What a ROUTER puts before a message: one for each hop. Proxies of Jupyter add one at most.
inline constexpr std::size_t zmq_identities_max = 8;
// A connection file is half a kilobyte; clients add fields of their own.
inline constexpr std::size_t connection_file_max_bytes = 64 * KiB;
// What waits to be written to the gateway; past it clients wait in their sockets.
inline constexpr std::size_t zmq_upstream_waiting_max_bytes = 8 * MiB;
// A subscriber whose queue is full holds the others back this long; then it misses messages.
inline constexpr seconds zmq_subscriber_patience{1};
// An XPUB cannot say when it has room again: it is asked this often, while a message waits.
inline constexpr milliseconds zmq_retry_interval{5};
// The loop looks at its deadlines at least this often.
inline constexpr milliseconds zmq_poll_max{60'000};
// After the end, for replies on their way to a client that reads.
inline constexpr milliseconds zmq_linger{1000};
// Clients restart a kernel by a new process: after a shutdown that announced it, it has this long
// to take the kernel over; after a kill without a word, that long. Then the kernel is deleted.
inline constexpr seconds kernel_handover_timeout{30};
inline constexpr seconds kernel_orphan_grace{5};
// A kernel starts within 30 s under emulation without a warm pool; a call to it takes milliseconds.
inline constexpr seconds kernel_create_timeout{300};
inline constexpr seconds kernel_call_timeout{30};

// --- artifacts --------------------------------------------------------------------------------
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
// Files that a cell made or changed in its working directory, all together: a report, its pictures
// and its spreadsheet. Larger ones are fetched from the sandbox by who wants them.
inline constexpr std::size_t changed_files_max = 50;
inline constexpr std::size_t changed_files_max_bytes = 64 * MiB;
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

// --- gateway/sandboxes ------------------------------------------------------------------------
// pandas and matplotlib take 250 MB; 1 GiB leaves room for data that fits a first analysis.
inline constexpr std::size_t sandbox_memory_default_bytes = 1 * GiB;
inline constexpr std::size_t sandbox_memory_min_bytes = 256 * MiB;
// The template's RAM is 4 GiB, of which the guest's kernel, agent and files need their part.
inline constexpr std::size_t sandbox_memory_max_bytes = 3 * GiB;
// E2B's clients send 300 s themselves; the same for those that do not.
inline constexpr seconds sandbox_timeout_default{300};
inline constexpr seconds sandbox_timeout_max{30 * 24 * 3600};
// A caller's default sandbox ends after this long without a request.
inline constexpr seconds default_sandbox_idle_timeout{3600};
// Kernels in one sandbox: each has 60 MB of its own.
inline constexpr std::size_t contexts_per_sandbox_max = 32;
// Ended sandboxes whose reason is still told to late requests.
inline constexpr std::size_t gone_sandboxes_remembered_max = 1000;
inline constexpr std::size_t sandbox_metadata_max = 64;
// Children of one fork (E2B's limit), and how many of them are on their way at once: the pool
// starts fewer, the others wait for their turn there.
inline constexpr std::size_t fork_children_max = 100;
inline constexpr std::size_t fork_concurrent_max = 8;
// Snapshots and paused sandboxes: how long they are kept, how many, and what one description
// (contexts, environments, names) may hold.
inline constexpr seconds snapshot_retention_default{30 * 24 * 3600};
inline constexpr std::size_t snapshots_max = 10'000;
inline constexpr std::size_t snapshot_name_max_bytes = 128;
inline constexpr std::size_t snapshot_description_max_bytes = 8 * MiB;
// When a sandbox cannot be paused at its timeout (a full disk), it is tried again after this.
inline constexpr seconds pause_retry_interval{60};
// Free disk that a snapshot leaves: SQLite and the run folders must still be able to write.
inline constexpr std::size_t snapshot_disk_reserve_bytes = 256 * MiB;
inline constexpr std::size_t environment_variables_max = 256;
inline constexpr std::size_t environment_value_max_bytes = 64 * KiB;

// --- gateway/api ------------------------------------------------------------------------------
// POST /execute: the largest code, with every character escaped as \\uXXXX in the worst case.
inline constexpr std::size_t execute_body_max_bytes = 6 * execution_code_max_bytes + 1 * MiB;
// One file in or out of a sandbox.
inline constexpr std::size_t file_transfer_max_bytes = 1 * GiB;
inline constexpr std::size_t file_path_max_bytes = 4096;  // PATH_MAX
inline constexpr seconds file_call_timeout{10};

// --- charts -----------------------------------------------------------------------------------
// A figure as the guest describes it. Its own budget keeps it near 4 MiB; a hostile one ends here.
inline constexpr std::size_t chart_json_max_bytes = 16 * MiB;
// figure > panels > panel > layers > layer > data > paths > path > points > point is ten deep.
inline constexpr std::size_t chart_json_max_depth = 12;
// Panels and layers: what a page of subplots holds; more is not read by anyone.
inline constexpr std::size_t chart_panels_max = 64;
inline constexpr std::size_t chart_layers_max = 512;
// Numbers in one layer and in one figure, after the guest's downsampling.
inline constexpr std::size_t chart_layer_values_max = 200'000;
inline constexpr std::size_t chart_figure_values_max = 1'000'000;
// A title, a label, a category's name.
inline constexpr std::size_t chart_string_max_bytes = 1 * KiB;
inline constexpr std::size_t chart_list_max = 10'000;  // ticks, categories, legend entries, notes
// Output for clients: rows of a CSV come from at most the figure's values; a description is read
// by a language model and by screen readers.
inline constexpr std::size_t chart_description_max_bytes = 4 * KiB;

// --- gateway/http -----------------------------------------------------------------------------
// A request head. Cookies and signed URLs stay below 8 KiB; 16 leaves room and fits two pages'
// worth of buffer per connection.
inline constexpr std::size_t http_head_max_bytes = 16 * KiB;
inline constexpr std::size_t http_target_max_bytes = 8 * KiB;
inline constexpr std::size_t http_header_fields_max = 100;
static_assert(http_target_max_bytes < http_head_max_bytes);
// From a head's first byte to its last: whoever is slower is a slow-loris.
inline constexpr seconds http_head_timeout{10};
// A kept-alive connection without a request. Longer than any client's pool keeps it.
inline constexpr seconds http_idle_timeout{620};
// No byte of the body, or no progress of an answer, for this long ends the connection.
inline constexpr seconds http_body_timeout{30};
inline constexpr seconds http_write_timeout{60};
// Deadlines and vanished clients are looked for this often: well inside the promised second.
inline constexpr milliseconds http_sweep_interval{250};
// A client that half-closed is probed again this often while its answer is being made.
inline constexpr seconds http_probe_interval{5};
// Connections at once; each costs a buffer and a coroutine, 20 KiB together.
inline constexpr std::size_t http_connections_max = 4096;
// JSON bodies of the API. Code has its own, smaller limit.
inline constexpr std::size_t http_json_body_max_bytes = 16 * MiB;
// Uploaded files: streamed, so the limit is about disks and not about memory.
inline constexpr std::size_t http_upload_max_bytes = 1 * GiB;
// What is still read, and dropped, of a body that was refused or not wanted, so that the client
// gets to read the answer instead of a reset connection.
inline constexpr std::size_t http_linger_max_bytes = 1 * GiB;
inline constexpr seconds http_linger_timeout{20};
// Less than this left of an unread body: read it and keep the connection.
inline constexpr std::size_t http_drain_max_bytes = 64 * KiB;
// Retry-After of every 429 and 503: a sandbox lives for minutes, a client's patience is seconds.
inline constexpr seconds http_retry_after{5};
// A piece of a body in memory, each way.
inline constexpr std::size_t http_piece_bytes = 256 * KiB;
// How long requests may go on after a shutdown was asked for.
inline constexpr seconds http_shutdown_grace{20};

// --- gateway/http: WebSocket ------------------------------------------------------------------
// One message of a client: what the link carries, and JSON's escapes on top (the legacy protocol).
inline constexpr std::size_t websocket_message_max_bytes = kernel_message_max_bytes + 1 * MiB;
// Proxies cut connections that are idle for 60 s; three unanswered pings mean a dead peer.
inline constexpr seconds websocket_ping_interval{30};
inline constexpr seconds websocket_silence_max{90};
// After our close frame the peer gets this long to answer it.
inline constexpr seconds websocket_close_timeout{2};
static_assert(websocket_silence_max > 2 * websocket_ping_interval);

// --- vm ---------------------------------------------------------------------------------------
// RAM of every template: untouched guest RAM costs the host nothing, so one size serves all.
inline constexpr std::size_t guest_ram_bytes = 4 * GiB;
// Replies of QEMU's monitor that we ask for are below 70 KiB (the console's 64 KiB ring, escaped,
// may grow sixfold); longer lines mean a QEMU that is not ours any more.
inline constexpr std::size_t qmp_line_max_bytes = 1 * MiB;
inline constexpr milliseconds qmp_command_timeout{5000};
// A jailed QEMU greets after 60 ms on a quiet host; many starting at once on two cores need more.
inline constexpr seconds qemu_start_timeout{20};
// The guest's console lives in QEMU as a ring of this size (a power of two), however much it
// prints.
inline constexpr std::size_t console_ring_bytes = 64 * KiB;
inline constexpr std::size_t console_tail_bytes = 4 * KiB;
// Files that QEMU may write: its own messages and device state (13 KB measured).
inline constexpr std::size_t qemu_file_max_bytes = 64 * MiB;
inline constexpr std::size_t qemu_open_files_max = 256;
// Address space beyond guest RAM: code, heap, thread stacks, TCG's translation buffer.
inline constexpr std::size_t qemu_address_space_slack_bytes = 8 * GiB;
// Host memory beyond two times the guest's RAM (a page of the base that was never written is a
// hole: the first clone that touches it pays for it in the memfd and again as its own copy): QEMU's
// heap and TCG's buffer (35 MB idle measured, the buffer alone may grow to 256 MiB), and the page
// tables of 4 GiB.
inline constexpr std::size_t qemu_host_overhead_bytes = 512 * MiB;
// Threads of one QEMU: vCPU, main loop, RCU, and block I/O workers (64 at most).
inline constexpr std::size_t qemu_tasks_max = 128;
// The guest's writable disk: a RAM disk that the image's /init makes (cellblock.disk_mib).
inline constexpr std::size_t guest_disk_max_bytes = 2 * GiB;
// Translated code of one QEMU under TCG.
inline constexpr std::size_t qemu_tcg_buffer_mib = 256;
// From `cont` to the agent's answer, and for each agent call of the claim.
inline constexpr seconds machine_hello_timeout{20};
inline constexpr seconds machine_claim_timeout{30};
// The kernel kills at once; past this the process is in an uninterruptible wait and is left to it.
inline constexpr seconds machine_kill_timeout{5};
inline constexpr seconds machine_clock_interval{30};
// The guest's clock: an answer within 10 ms tells the time to 5 ms; a busy host gives one in some
// questions. 50 ms are promised.
inline constexpr std::chrono::nanoseconds guest_clock_good_enough{5'000'000};
inline constexpr int guest_clock_questions_max = 8;
inline constexpr seconds guest_clock_timeout{5};
// Streams that a guest opens before anybody owns its machine (one: its events), and kernels that a
// claim reports.
inline constexpr std::size_t machine_early_streams_max = 8;
inline constexpr std::size_t claimed_kernels_max = 64;
// Template build under TCG: 15 s to the agent's hello and 40 s of warm-up on a quiet host, ten
// times that on one with a load of ten per core. The first attempt gets a third of the boot's time,
// because a guest that hangs does so early.
inline constexpr seconds template_boot_timeout{420};
inline constexpr seconds template_prepare_timeout{900};
inline constexpr int template_build_attempts = 3;
// Under KVM a guest boots in seconds, or never (KVM that only looks usable): one attempt, so that
// emulation gets its turn soon.
inline constexpr seconds template_boot_kvm_timeout{60};
// Manifests of templates and machines.
inline constexpr std::size_t manifest_max_bytes = 64 * KiB;
// Pool: starts at once (each needs a core for 0.3 s under TCG), age (a clone's clock and caches go
// stale slowly; jittered so that they do not all go together), health check at hand-out.
inline constexpr std::size_t pool_concurrent_starts = 2;
inline constexpr seconds pool_age_max{1800};
inline constexpr milliseconds pool_check_timeout{500};
inline constexpr milliseconds pool_backoff_min{500};
inline constexpr seconds pool_backoff_max{60};
// What a machine takes beside its sandbox's limit: 93 MiB were measured for an idle one (PSS).
inline constexpr std::size_t pool_machine_overhead_bytes = 128 * MiB;
// The part of the host's memory that no sandbox gets: a twentieth, and at least this.
inline constexpr std::size_t host_memory_reserve_min_bytes = 512 * MiB;

// --- vm/image ---------------------------------------------------------------------------------
// image.json: 300 packages and 80 wheels make 12 KiB.
inline constexpr std::size_t image_description_max_bytes = 1 * MiB;
// The initramfs of an image (busybox and modules: 3 MiB), and one file that a template adds to it
// (the agent with debug information stays below 64 MiB).
inline constexpr std::size_t initramfs_max_bytes = 64 * MiB;
inline constexpr std::size_t guest_file_max_bytes = 128 * MiB;
// One line of the image builder.
inline constexpr std::size_t image_builder_line_max_bytes = 64 * KiB;
// Hashing a few small files; starting Python takes the most, on a busy machine.
inline constexpr seconds image_key_timeout{30};

}  // namespace cellblock::limits
