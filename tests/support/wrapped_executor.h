// An executor that has another one do everything, for tests that change one of its answers.
#pragma once

#include "engine/exec/executor.h"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace halfscope::test {

class WrappedExecutor : public Executor {
public:
    explicit WrappedExecutor(int threads = 1) : m_inner(makeCpuExecutor(threads)) {}
    const DeviceInfo& device() const override { return m_inner->device(); }
    void load(std::shared_ptr<const Program> program) override {
        m_inner->load(std::move(program));
    }
    RunResult run(RunMode mode, const Visitor& visitor) override {
        return m_inner->run(mode, visitor);
    }
    void upload(NodeId id, std::span<const std::byte> bytes) override {
        m_inner->upload(id, bytes);
    }
    void download(NodeId id, std::span<std::byte> bytes) override { m_inner->download(id, bytes); }
    void requestStop() override { m_inner->requestStop(); }
    double lastStepSeconds() const override { return m_inner->lastStepSeconds(); }

protected:
    Executor& inner() { return *m_inner; }

private:
    std::unique_ptr<Executor> m_inner;
};

} // namespace halfscope::test
