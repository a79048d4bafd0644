// Requests and answers are lines of JSON over a pair of sockets: a write to a process that has
// ended fails there without a signal.
#include "app/pytorch_steps.h"

#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/step/pytorch_calls.h"
#include "engine/step/pytorch_script.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace halfscope::cli {

namespace {

constexpr int kPollMilliseconds = 100; ///< between two checks for a signal

/// What the process gets besides its program: the socket as its standard input and output, a
/// standard error that is discarded, because compilers warn there, and no blocked signal.
class SpawnSetup {
public:
    explicit SpawnSetup(int socket) {
        posix_spawn_file_actions_init(&m_files);
        posix_spawn_file_actions_adddup2(&m_files, socket, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&m_files, socket, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&m_files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawnattr_init(&m_attributes);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&m_attributes, &none);
        posix_spawnattr_setflags(&m_attributes, POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnSetup() {
        posix_spawn_file_actions_destroy(&m_files);
        posix_spawnattr_destroy(&m_attributes);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    const posix_spawn_file_actions_t* files() const { return &m_files; }
    const posix_spawnattr_t* attributes() const { return &m_attributes; }

private:
    posix_spawn_file_actions_t m_files{};
    posix_spawnattr_t m_attributes{};
};

std::vector<int64_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

[[noreturn]] void refuse(const std::string& python, const std::string& why) {
    throw InputError(Message::data("--pytorch: " + quotedText(python) + " " + why +
                                   "; it must be a Python that has PyTorch"));
}

/// Throws because something else than PyTorch's side of this (a wrapper, say) wrote to the socket.
[[noreturn]] void refuseAnswer(const std::string& text) {
    throw EngineError(
        Message::data("PyTorch's process gave no answer that can be used: " + quotedText(text)));
}
[[noreturn]] void refuseAnswer(const nlohmann::json& answer) {
    refuseAnswer(answer.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

std::string textIn(const nlohmann::json& answer, const char* key) {
    const auto found = answer.is_object() ? answer.find(key) : answer.end();
    if (found == answer.end() || !found->is_string()) refuseAnswer(answer);
    return found->get<std::string>();
}

/// The process ended instead of answering.
struct Ended {
    std::string how;
};

const nlohmann::json& listIn(const nlohmann::json& answer, const char* key) {
    const auto found = answer.find(key);
    if (found == answer.end() || !found->is_array()) refuseAnswer(answer);
    return *found;
}

} // namespace

PyTorchSteps::PyTorchSteps(const std::string& python, bool cuda, int threads,
                           const SignalWatch& signals)
    : m_python(python), m_signals(signals), m_cuda(cuda), m_threads(threads) {
    start();
}

PyTorchSteps::~PyTorchSteps() { end(); }

/// Starts a new process, whose PyTorch remembers nothing.
void PyTorchSteps::start() {
    end();
    launch();
    m_isNew = true;
    const std::string line = receive();
    const nlohmann::json hello = nlohmann::json::parse(line, nullptr, false);
    if (m_signals.interrupted()) return;
    if (!hello.is_object()) refuse(m_python, "is not Python");
    if (hello.contains("error")) refuse(m_python, textIn(hello, "error"));
    m_version = textIn(hello, "version");
}

void PyTorchSteps::end() {
    if (m_socket >= 0) ::close(m_socket);
    m_socket = -1;
    m_read.clear();
    if (m_process < 0) return;
    ::kill(m_process, SIGKILL); // it has nothing to save, and may be compiling
    while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {
    }
    m_process = -1;
}

/// Waits for the process, which has closed its end of the socket.
std::string PyTorchSteps::howItEnded() {
    int status = 0;
    while (::waitpid(m_process, &status, 0) < 0 && errno == EINTR) {
    }
    m_process = -1;
    return WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status))
                               : "exit code " + std::to_string(WEXITSTATUS(status));
}

void PyTorchSteps::launch() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        refuse(m_python, std::string("cannot be started: ") + std::strerror(errno));
    m_socket = ends[0];
    const SpawnSetup setup(ends[1]);
    std::string program = m_python, option = "-c", source = kPyTorchStepsSource;
    const std::array<char*, 4> arguments{program.data(), option.data(), source.data(), nullptr};
    const int error = ::posix_spawnp(&m_process, m_python.c_str(), setup.files(),
                                     setup.attributes(), arguments.data(), environ);
    ::close(ends[1]);
    if (error == 0) return;
    m_process = -1;
    refuse(m_python, std::string("cannot be started: ") + std::strerror(error));
}

void PyTorchSteps::send(std::string_view line) {
    while (!line.empty()) {
        const ssize_t sent = ::send(m_socket, line.data(), line.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return; // the process has ended: receive() reports it
        line.remove_prefix(static_cast<size_t>(sent));
    }
}

/// Returns a line; empty when the process ended or a signal came.
std::string PyTorchSteps::receive() {
    std::array<char, 4096> block{};
    while (!m_signals.interrupted()) {
        if (const size_t end = m_read.find('\n'); end != std::string::npos) {
            const std::string line = m_read.substr(0, end);
            m_read.erase(0, end + 1);
            return line;
        }
        pollfd waiting{.fd = m_socket, .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, kPollMilliseconds) <= 0) continue;
        const ssize_t got = ::recv(m_socket, block.data(), block.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return {};
        m_read.append(block.data(), static_cast<size_t>(got));
    }
    return {};
}

/// Returns null once a signal came. Throws Ended.
nlohmann::json PyTorchSteps::ask(const nlohmann::json& request) {
    send(request.dump() + "\n");
    for (;;) {
        const std::string line = receive();
        const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
        if (m_signals.interrupted()) return nullptr;
        if (line.empty()) throw Ended{howItEnded()};
        if (!answer.is_object()) refuseAnswer(line);
        if (answer.contains("error"))
            throw EngineError(Message::data("PyTorch: " + textIn(answer, "error")));
        const auto trying = answer.find("trying");
        if (trying == answer.end()) return answer;
        m_trying = {textIn(*trying, "lane"), textIn(*trying, "way")};
    }
}

void PyTorchSteps::prepare(const StepCase& row, const std::vector<LaneConfig>& lanes) {
    m_ways.clear();
    m_row = row.name;
    RunConfig config = row.config;
    config.lanes = lanes;
    const BatchShape batch = shapeOf(row);
    nlohmann::json request{{"script", pytorchScript(config)},
                           {"optimizer", optimizerCall(config.optimizer, "model.parameters()")},
                           {"x", extents(batch.x())},
                           {"target", extents(batch.target())},
                           {"classes", row.classes},
                           {"device", m_cuda ? "cuda" : "cpu"},
                           {"threads", m_threads},
                           {"without", nlohmann::json::array()}};
    while (!takeWays(request))
        request["without"].push_back({m_trying.lane, m_trying.way});
}

/// Returns false when one of the ways, m_trying, ended the process.
bool PyTorchSteps::takeWays(const nlohmann::json& request) try {
    if (!m_isNew) start();
    m_isNew = false;
    m_trying = {};
    const nlohmann::json answer = ask(request);
    if (answer.is_null()) return true;
    for (const nlohmann::json& way : listIn(answer, "ways"))
        m_ways.push_back({textIn(way, "lane"), textIn(way, "way")});
    for (const nlohmann::json& way : listIn(answer, "refused"))
        printNote("PyTorch: " + m_row + ", " + textIn(way, "lane") + ", " + textIn(way, "way") +
                  ": not timed: " + pathText(textIn(way, "reason")) + "\n");
    return true;
} catch (const Ended& ended) {
    if (m_trying.way.empty())
        throw EngineError(Message::data("PyTorch's process has ended (" + ended.how + ")"));
    printNote("PyTorch: " + m_row + ", " + m_trying.lane + ", " + m_trying.way +
              ": not timed: its process has ended (" + ended.how + ")\n");
    return false;
}

void PyTorchSteps::round() try {
    if (m_ways.empty()) return;
    const nlohmann::json answer = ask({{"round", true}});
    if (answer.is_null()) return;
    const nlohmann::json& seconds = listIn(answer, "seconds");
    if (seconds.size() != m_ways.size()) refuseAnswer(seconds);
    for (size_t i = 0; i < m_ways.size(); ++i) {
        if (!seconds[i].is_number()) refuseAnswer(seconds[i]);
        m_ways[i].seconds.push_back(seconds[i].get<double>());
    }
} catch (const Ended& ended) {
    m_ways.clear();
    printNote("PyTorch: " + m_row + ": not timed: its process has ended (" + ended.how + ")\n");
}

} // namespace halfscope::cli
