// A server for tests of downloads: it serves one file after the other on a port of this machine, as
// correctly or as badly as the test wants.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace halfscope {

class HttpServer {
public:
    /// The reply to a request; `from` is the first byte that the request asks for.
    struct Answer {
        std::string content;
        int status = 200;
        size_t cutAfter = std::string::npos; ///< so many bytes of the reply are sent; then the
                                             ///< connection ends
        bool ranges = true;                  ///< sends only the rest when a request asks for that
        bool stalls = false;                 ///< after cutAfter bytes the connection stays open,
                                             ///< silent
    };

    HttpServer() : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(m_socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
        ::listen(m_socket, 8);
        socklen_t size = sizeof address;
        ::getsockname(m_socket, reinterpret_cast<sockaddr*>(&address), &size);
        m_port = ntohs(address.sin_port);
        m_thread = std::thread([this] { serve(); });
    }
    ~HttpServer() {
        m_ending = true;
        ::shutdown(m_socket, SHUT_RDWR);
        m_thread.join();
        ::close(m_socket);
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::string address() const { return "http://127.0.0.1:" + std::to_string(m_port) + "/"; }
    void put(const std::string& name, Answer answer) {
        const std::lock_guard lock(m_mutex);
        m_answers["/" + name] = std::move(answer);
    }
    /// Returns the first byte that was asked for, request by request.
    std::vector<size_t> asked() const {
        const std::lock_guard lock(m_mutex);
        return m_asked;
    }

private:
    void serve() {
        for (;;) {
            const int client = ::accept(m_socket, nullptr, nullptr);
            if (client < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
            if (client < 0) return;
            answer(client);
            ::close(client);
        }
    }
    void answer(int client) {
        std::string request;
        char block[4096];
        while (request.find("\r\n\r\n") == request.npos) {
            const ssize_t count = ::recv(client, block, sizeof block, 0);
            if (count <= 0) return;
            request.append(block, static_cast<size_t>(count));
        }
        const size_t start = request.find(' ') + 1;
        const std::string path = request.substr(start, request.find(' ', start) - start);
        const size_t range = request.find("Range: bytes=");
        size_t from = range == request.npos ? 0 : std::stoul(request.substr(range + 13));
        Answer told;
        {
            const std::lock_guard lock(m_mutex);
            m_asked.push_back(from);
            const auto found = m_answers.find(path);
            if (found == m_answers.end())
                told.status = 404;
            else
                told = found->second;
        }
        const bool part = from > 0 && told.ranges && told.status == 200;
        if (!part) from = 0;
        if (part) told.status = from < told.content.size() ? 206 : 416;
        const std::string all = told.content;
        const std::string body = told.status < 300 ? all.substr(from) : std::string();
        std::string text = "HTTP/1.1 " + std::to_string(told.status) +
                           " Told\r\nContent-Length: " + std::to_string(body.size()) +
                           "\r\nConnection: close\r\n";
        if (told.status == 206)
            text += "Content-Range: bytes " + std::to_string(from) + "-" +
                    std::to_string(all.size() - 1) + "/" + std::to_string(all.size()) + "\r\n";
        send(client, text + "\r\n" + body.substr(0, told.cutAfter));
        while (told.stalls && !m_ending && isOpen(client)) {
        }
    }
    /// Whether the other side is still connected some milliseconds later.
    static bool isOpen(int client) {
        pollfd waiting{client, POLLIN, 0};
        char byte = 0;
        return ::poll(&waiting, 1, 10) == 0 || ::recv(client, &byte, 1, 0) > 0;
    }
    static void send(int client, std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return;
            bytes.remove_prefix(static_cast<size_t>(count));
        }
    }

    int m_socket;
    std::atomic<bool> m_ending = false;
    int m_port = 0;
    mutable std::mutex m_mutex;
    std::map<std::string, Answer> m_answers;
    std::vector<size_t> m_asked;
    std::thread m_thread;
};

} // namespace halfscope
