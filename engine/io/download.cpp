// Runs one transfer after the other through libcurl's easy interface.
#include "engine/io/download.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/message.h"
#include "engine/core/sha256.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/io/open_folder.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfscope {

namespace {

/// Why one address does not serve the file; another one may do so.
using Refusal = std::optional<Message>;

/// The file that grows while it is downloaded.
class PartFile {
public:
    explicit PartFile(std::string path)
        : m_path(std::move(path)), m_file(::open(m_path.c_str(), kOpening, 0666)) {
        if (!m_file.isOpen()) fail(errno);
        if (!isOurs())
            throw RunError(phrase("Files", "%1: another program is downloading this file"),
                           pathText(m_path));
        const off_t end = ::lseek(m_file.number(), 0, SEEK_END);
        if (end < 0) fail(errno);
        m_bytes = static_cast<int64_t>(end);
    }
    ~PartFile() {
        if (m_bytes == 0) ::unlink(m_path.c_str());
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    const std::string& path() const { return m_path; }
    int64_t bytes() const { return m_bytes; }
    void restart() {
        if (::ftruncate(m_file.number(), 0) != 0 || ::lseek(m_file.number(), 0, SEEK_SET) != 0)
            fail(errno);
        m_bytes = 0;
    }
    /// Appends to the file; returns 0 or the error's number.
    int append(std::string_view content) {
        size_t written = 0;
        const int error = writeAll(m_file.number(), content, written);
        m_bytes += static_cast<int64_t>(written);
        return error;
    }
    void finish(const std::string& path) {
        if (const int error = syncToDisk(m_file.number())) fail(error);
        if (std::rename(m_path.c_str(), path.c_str()) != 0) fail(errno);
        m_bytes = -1; // the name is gone
    }
    [[noreturn]] void fail(int error) const {
        failFile(m_path, phrase("Files", "%1: cannot write: %2"), error);
    }

private:
    /// Whether the file is ours: false when another program writes it, or has just finished it. On
    /// a disk without locks every program may write.
    bool isOurs() const {
        const bool locked = ::flock(m_file.number(), LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno == EWOULDBLOCK) return false;
        struct stat opened {
        }, named{};
        return ::fstat(m_file.number(), &opened) == 0 && ::stat(m_path.c_str(), &named) == 0 &&
               opened.st_ino == named.st_ino;
    }

    // must not wait for a pipe of that name
    static constexpr int kOpening =
        O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    std::string m_path;
    Descriptor m_file;
    int64_t m_bytes = -1;
};

/// One request for what is missing of a file.
class Transfer {
public:
    Transfer(const RemoteFile& file, std::string address, PartFile& part,
             const FetchProgress& progress)
        : m_wanted(file), m_address(std::move(address)), m_part(part), m_progress(progress),
          m_curl(curl_easy_init(), curl_easy_cleanup) {
        if (!m_curl) throw std::bad_alloc();
    }

    Refusal run() {
        constexpr long kSecondsToConnect = 20, kSecondsOfSilence = 30, kRedirections = 5;
        set(CURLOPT_URL, m_address.c_str());
        set(CURLOPT_PROTOCOLS_STR, "http,https");
        set(CURLOPT_FOLLOWLOCATION, 1L);
        set(CURLOPT_MAXREDIRS, kRedirections);
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
        set(CURLOPT_FAILONERROR, 1L);
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_QUICK_EXIT, 1L); // a user who stops need not wait for a name to be resolved
        set(CURLOPT_CONNECTTIMEOUT, kSecondsToConnect);
        set(CURLOPT_LOW_SPEED_LIMIT, 1L);
        set(CURLOPT_LOW_SPEED_TIME, kSecondsOfSilence);
        set(CURLOPT_USERAGENT, "Halfscope");
        set(CURLOPT_ERRORBUFFER, m_words.data());
        set(CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(m_part.bytes()));
        set(CURLOPT_WRITEFUNCTION, &Transfer::onBytes);
        set(CURLOPT_WRITEDATA, this);
        set(CURLOPT_NOPROGRESS, 0L);
        set(CURLOPT_XFERINFOFUNCTION, &Transfer::onProgress);
        set(CURLOPT_XFERINFODATA, this);
        const CURLcode code = curl_easy_perform(m_curl.get());
        checkCancelled();
        if (m_writeError != 0) m_part.fail(m_writeError);
        return refusalOf(code);
    }
    /// Whether the part cannot be continued: the server refuses the rest, or it has another file.
    bool mustRestart() const { return m_mustRestart; }

private:
    template <class Value>
    void set(CURLoption option, Value value) {
        curl_easy_setopt(m_curl.get(), option, value);
    }

    Refusal refusalOf(CURLcode code) {
        constexpr long kRangeRefused = 416;
        long answer = 0;
        curl_easy_getinfo(m_curl.get(), CURLINFO_RESPONSE_CODE, &answer);
        const std::string address = pathText(m_address);
        if (m_tooMuch) {
            m_mustRestart = true;
            return Message(phrase("Files", "%1: the server sent a different file (more than %2 "
                                           "bytes); it was discarded"),
                           address, m_wanted.bytes);
        }
        // when a range was asked for, libcurl takes 416 for a success
        m_mustRestart =
            code == CURLE_RANGE_ERROR || (answer == kRangeRefused && m_part.bytes() > 0);
        if (code == CURLE_HTTP_RETURNED_ERROR)
            return Message(phrase("Files", "%1: the server answered with error %2"), address,
                           static_cast<int64_t>(answer));
        if (code != CURLE_OK && !m_begun)
            return Message(phrase("Files", "%1: cannot be reached: %2"), address,
                           m_words[0] != '\0' ? m_words.data() : curl_easy_strerror(code));
        curl_off_t length = -1; // unknown when the server does not tell it
        curl_easy_getinfo(m_curl.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        const bool complete = code == CURLE_OK && length >= 0;
        if (m_part.bytes() < m_wanted.bytes && complete) {
            m_mustRestart = true;
            return Message(phrase("Files", "%1: the server sent a different file (%2 bytes in "
                                           "place of %3); it was discarded"),
                           address, m_part.bytes(), m_wanted.bytes);
        }
        if (m_part.bytes() < m_wanted.bytes)
            return Message(phrase("Files",
                                  "%1: the connection broke after %2 of %3 bytes; these are "
                                  "kept, and the next try resumes from there"),
                           address, m_part.bytes(), m_wanted.bytes);
        return std::nullopt;
    }

    // No exception may pass through libcurl: 0 and 1 end the transfer.
    static size_t onBytes(char* bytes, size_t, size_t count, void* data) {
        auto* self = static_cast<Transfer*>(data);
        self->m_begun = true;
        self->m_tooMuch = self->m_part.bytes() + static_cast<int64_t>(count) > self->m_wanted.bytes;
        if (self->m_tooMuch) return 0;
        self->m_writeError = self->m_part.append({bytes, count});
        return self->m_writeError == 0 ? count : 0;
    }
    static int onProgress(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        const auto* self = static_cast<const Transfer*>(data);
        if (isCancelled()) return 1;
        try {
            if (self->m_progress) self->m_progress(self->m_wanted, self->m_part.bytes());
        } catch (...) { // a failing progress display must not stop the download
        }
        return 0;
    }

    const RemoteFile& m_wanted;
    std::string m_address;
    PartFile& m_part;
    const FetchProgress& m_progress;
    std::unique_ptr<CURL, void (*)(CURL*)> m_curl;
    std::array<char, CURL_ERROR_SIZE> m_words{};
    bool m_begun = false, m_tooMuch = false, m_mustRestart = false;
    int m_writeError = 0;
};

bool hasContent(const std::string& path, const RemoteFile& file) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    return !error && bytes == static_cast<uintmax_t>(file.bytes) &&
           sha256(readFile(path)) == file.sha256;
}

/// Downloads from one address. What has come before may be of another file; then everything is
/// downloaded again.
Refusal fetchFrom(const RemoteFile& file, const std::string& address, PartFile& part,
                  const FetchProgress& progress) {
    for (;;) {
        if (part.bytes() > file.bytes) part.restart();
        const bool resumed = part.bytes() > 0;
        if (part.bytes() < file.bytes) {
            Transfer transfer(file, address, part, progress);
            const Refusal refusal = transfer.run();
            if (transfer.mustRestart()) part.restart();
            if (transfer.mustRestart() && resumed) continue;
            if (refusal) return refusal;
        }
        if (hasContent(part.path(), file)) return std::nullopt;
        part.restart();
        if (!resumed)
            return Message(phrase("Files", "%1: the server sent a different file (its checksum is "
                                           "wrong); it was discarded"),
                           pathText(address));
    }
}

void startCurl() {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started != CURLE_OK)
        throw RunError(phrase("Files", "libcurl cannot be used: %1"), curl_easy_strerror(started));
}

} // namespace

void fetchFile(const RemoteFile& file, std::span<const std::string> addresses,
               const std::string& folder, const FetchProgress& progress) {
    require(!addresses.empty(), "an address to fetch from");
    const std::string path = (std::filesystem::path(folder) / file.name).string();
    if (hasContent(path, file)) return;
    startCurl();
    PartFile part(path + ".part");
    Refusal refusal;
    for (const std::string& address : addresses) {
        refusal = fetchFrom(file, address + file.name, part, progress);
        if (!refusal) return part.finish(path);
    }
    throw RunError(*refusal);
}

} // namespace halfscope
