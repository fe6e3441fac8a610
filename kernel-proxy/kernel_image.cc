// A kernel across copies and pauses of its guest: images (kernel.h, KernelImage) and frozen time.
#include <utility>

#include "kernel-proxy/kernel.h"
#include "kernel-proxy/running_cell.h"

namespace cellblock::kernel_proxy {

std::shared_ptr<RunningCell> Kernel::copy_of(const RunningCell& cell) const {
    return std::make_shared<RunningCell>(cell, cell.execution().copy(executor_));
}

std::shared_ptr<Execution> Kernel::running() const {
    return current_ ? current_->execution_pointer() : nullptr;
}

KernelImage Kernel::image() const {
    KernelImage image;
    image.spec = spec_;
    image.pid = pid_;
    image.received = received_;
    image.state = state_ == KernelState::dead ? KernelState::dead : KernelState::idle;
    if (!current_ || !current_->sent() || current_->done()) return image;
    image.running = copy_of(*current_);
    image.state = KernelState::busy;
    return image;
}

void Kernel::adopt(const KernelImage& image, vm::link::StreamPtr stream) {
    pid_ = image.pid;
    state_ = image.state;
    received_ = image.received;
    if (image.resumes && (image.running || image.channels)) {
        if (image.channels) {
            channels_->restore(*image.channels);
            received_ = image.channels->base;
        }
        acknowledged_ = received_;
        open_stream(Counting::on);
    }
    if (image.resumes && image.running) {
        logged_through_ = image.received;
        current_ = image.running;
        settling_.push_back(current_->execution_pointer());
        listen_for_stop(current_->execution());
        if (state_ == KernelState::idle) state_ = KernelState::busy;
        if (image.send_again) spawn(send_again(image.send_again), "kernel_send_again");
    } else if (image.resumes) {
        if (state_ == KernelState::busy) state_ = KernelState::idle;
    } else if (stream) {
        stream_ = std::move(stream);
        if (image.running) {
            current_ = copy_of(*image.running);  // an image may have several copies
            settling_.push_back(current_->execution_pointer());
            listen_for_stop(current_->execution());
        }
    } else {
        open_stream(Counting::anew);
        if (state_ == KernelState::busy) state_ = KernelState::idle;
    }
    spawn(read_messages(), "kernel_reader");
    spawn(run_queue(), "kernel_queue");
    changed_.notify_all();
}

boost::asio::awaitable<void> Kernel::wait_settled(Deadline deadline) {
    const auto self = shared_from_this();
    const auto settled = [this] {
        if (current_ && current_->stopping()) return false;
        return state_ != KernelState::starting && state_ != KernelState::restarting;
    };
    while (!settled() && co_await changed_.wait_until(deadline)) {
    }
}

void Kernel::freeze() {
    if (frozen_) return;
    frozen_ = true;
    frozen_at_ = std::chrono::steady_clock::now();
}

void Kernel::thaw() {
    if (!frozen_) return;
    frozen_ = false;
    if (current_ && current_->sent()) {
        const auto stood_still = std::chrono::steady_clock::now() - frozen_at_;
        current_->set_sent(current_->deadline() + stood_still);
    }
    changed_.notify_all();
}

}  // namespace cellblock::kernel_proxy
