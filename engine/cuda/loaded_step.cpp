// Loading and launching. The executor decides when and on which stream.
#include "engine/cuda/loaded_step.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

constexpr size_t kPlainSharedBytes = 48 << 10; ///< more must be asked for
constexpr size_t kWorkspaceAlignment = 256;    ///< that of any allocation, on which libraries rely

/// Continues when a library refuses a node, so that all refused nodes are known at once: each round
/// without some of them costs a compilation.
class Refusals {
public:
    template <class Attempt>
    void attempt(NodeId node, const Attempt& attempt) {
        try {
            attempt();
        } catch (const NoAlgorithm& reason) {
            m_nodes.insert(node);
            m_reasons.push_back(reason.message());
        }
    }
    void throwIfAny() const {
        if (!m_nodes.empty())
            throw NodesRefused(listed(m_reasons, phrase("Devices", "%1; %2")), m_nodes);
    }

private:
    std::set<NodeId> m_nodes;
    std::vector<Message> m_reasons;
};

} // namespace

LoadedStep::LoadedStep(Device& device, const StepWriter& writer, WrittenStep written,
                       const std::vector<std::string>& code)
    : m_device(device), m_source(std::move(written.source)),
      m_text(m_source.text + (written.extra ? written.extra->text : "")) {
    for (const std::string& part : code) {
        CUmodule module = nullptr;
        device.check(device.driver().cuModuleLoadData(&module, part.data()),
                     phrase("Devices", "loading the kernels"));
        m_modules.emplace_back(module, device.driver().cuModuleUnload);
    }
    Refusals refusals;
    for (const Launch& launch : m_source.launches) {
        Work& work = m_work.emplace_back();
        work.cost.what = writer.describe(program(), launch);
        if (writer.traffic != nullptr) {
            const Traffic traffic = writer.traffic(program(), launch);
            work.cost.bytes = traffic.readBytes + traffic.writtenBytes;
            work.cost.flops = traffic.flops;
        }
        switch (launch.kind) {
        case LaunchKind::Generated:
            work.function = function(launch.part, launch.entry, launch.sharedBytes);
            work.cost.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, work.function);
            work.cost.localBytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, work.function);
            break;
        case LaunchKind::Matmul:
            refusals.attempt(launch.node,
                             [&] { work.matmul.emplace(device, program(), launch.node); });
            break;
        case LaunchKind::Convolution:
            refusals.attempt(launch.node,
                             [&] { work.convolution.emplace(device, program(), launch.node); });
            break;
        }
    }
    refusals.throwIfAny();
    m_source.text.clear(); // m_text has it
    m_source.parts.clear();
    if (written.extra) {
        m_extra = function(m_modules.size() - 1, written.extra->entry, 0);
        m_extraThreads = written.extra->threads;
    }
}

CUfunction LoadedStep::function(size_t part, const std::string& entry, size_t sharedBytes) const {
    CUfunction function = nullptr;
    m_device.check(
        m_device.driver().cuModuleGetFunction(&function, m_modules[part].get(), entry.c_str()),
        Message(phrase("Devices", "kernel %1"), entry));
    if (sharedBytes > kPlainSharedBytes)
        m_device.check(m_device.driver().cuFuncSetAttribute(
                           function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           static_cast<int>(sharedBytes)),
                       Message(phrase("Devices", "kernel %1, %2 of shared memory"), entry,
                               sizeText(sharedBytes)));
    return function;
}

int LoadedStep::attribute(CUfunction_attribute which, CUfunction function) const {
    int value = 0;
    m_device.check(m_device.driver().cuFuncGetAttribute(&value, which, function),
                   phrase("Devices", "registers of a kernel"));
    return value;
}

size_t LoadedStep::libraryWorkspace() const {
    size_t bytes = 0;
    for (const Work& work : m_work) {
        if (work.matmul) bytes = std::max(bytes, work.matmul->workspaceBytes());
        if (work.convolution) bytes = std::max(bytes, work.convolution->workspaceBytes());
    }
    return bytes;
}

size_t LoadedStep::scratchBytes() const {
    return (m_source.scratchBytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
           kWorkspaceAlignment;
}

size_t LoadedStep::workspaceBytes() const {
    return scratchBytes() + libraryWorkspace() +
           static_cast<size_t>(m_source.tickets) * sizeof(unsigned);
}

void LoadedStep::prepare(const FileCache& cache, CUdeviceptr arena) {
    // A chain's partial sums stay in scratch until the launch that merges them, and a library's
    // launch may come in between: its workspace is behind them. Libraries run one after the other
    // and share theirs.
    m_scratch =
        m_device.allocate(scratchBytes() + libraryWorkspace(), phrase("Devices", "scratch memory"));
    const CUdeviceptr workspace = m_scratch.get() + scratchBytes();
    m_tickets = m_device.allocate(static_cast<size_t>(m_source.tickets) * sizeof(unsigned),
                                  phrase("Devices", "counters of the kernels"));
    Refusals refusals;
    for (size_t i = 0; i < m_work.size(); ++i)
        refusals.attempt(launch(i).node, [&, &work = m_work[i]] {
            if (work.matmul) work.matmul->tune(cache, arena, workspace);
            if (work.convolution) work.convolution->tune(cache, arena, workspace);
        });
    refusals.throwIfAny();
}

void LoadedStep::start(const Start& how, CUstream stream, const std::string& what) const {
    std::array<CUdeviceptr, 3> values = how.arguments;
    void* arguments[] = {&values[0], &values[1], &values[2]};
    const auto blocks = static_cast<unsigned>(how.blocks),
               threads = static_cast<unsigned>(how.threads),
               shared = static_cast<unsigned>(how.sharedBytes);
    m_device.check(m_device.driver().cuLaunchKernel(how.function, blocks, 1, 1, threads, 1, 1,
                                                    shared, stream, arguments, nullptr),
                   what);
}

void LoadedStep::enqueue(size_t index, CUdeviceptr arena, CUstream stream) const {
    const Work& work = m_work[index];
    const Launch& launch = m_source.launches[index];
    const CUdeviceptr workspace = m_scratch.get() + scratchBytes();
    switch (launch.kind) {
    case LaunchKind::Generated:
        start({work.function,
               launch.blocks,
               launch.threads,
               launch.sharedBytes,
               {arena, m_scratch.get(), m_tickets.get()}},
              stream, work.cost.what);
        break;
    case LaunchKind::Matmul: work.matmul->enqueue(arena, workspace, stream); break;
    case LaunchKind::Convolution: work.convolution->enqueue(arena, workspace, stream); break;
    }
}

void LoadedStep::enqueueExtra(CUdeviceptr first, CUdeviceptr second, CUdeviceptr third,
                              CUstream stream) const {
    start({m_extra, 1, m_extraThreads, 0, {first, second, third}}, stream, "metrics");
}

} // namespace halfscope::cuda
