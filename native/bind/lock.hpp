// A model's own lock: calls from several threads are made one after another.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include <nanobind/nanobind.h>

namespace noregret::bind {

// Whoever holds it may take it again. It is tried first; only where somebody else holds it the interpreter's lock is
// given up, and then waited for: no thread waits for this lock while it keeps the interpreter from the one that has it.
class Lock {
public:
    void acquire() {
        const std::thread::id me = std::this_thread::get_id();
        if (owner_.load(std::memory_order_relaxed) != me) {
            if (!mutex_.try_lock()) {
                nanobind::gil_scoped_release free;
                mutex_.lock();
            }
            owner_.store(me, std::memory_order_relaxed);
        }
        ++depth_;
    }

    void release() {
        if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return;
        if (--depth_ > 0) return;
        owner_.store(std::thread::id{}, std::memory_order_relaxed);
        mutex_.unlock();
    }

private:
    std::mutex mutex_;
    std::atomic<std::thread::id> owner_{};
    int depth_ = 0;
};

class Held {
public:
    explicit Held(Lock &lock) : lock_(lock) { lock_.acquire(); }
    ~Held() { lock_.release(); }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;

private:
    Lock &lock_;
};

}  // namespace noregret::bind
