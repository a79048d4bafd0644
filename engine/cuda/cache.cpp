// Cache files: one a key, named by its hash, with a header that tells a whole file from any other.
#include "engine/cuda/cache.h"

#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <vector>

namespace halfscope::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".hscache";

/// FNV-1a; two bases make 128 bits.
uint64_t hashOf(std::string_view text, uint64_t base) {
    uint64_t hash = base;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

std::string nameOf(std::string_view key) {
    char name[40];
    std::snprintf(name, sizeof name, "%016llx%016llx",
                  static_cast<unsigned long long>(hashOf(key, 0xcbf29ce484222325u)),
                  static_cast<unsigned long long>(hashOf(key, 0x9e3779b97f4a7c15u)));
    return name;
}

/// The first line; the value follows it.
std::string headerOf(std::string_view key, std::string_view value) {
    char sum[64];
    std::snprintf(sum, sizeof sum, " %zu %zu %016llx\n", key.size(), value.size(),
                  static_cast<unsigned long long>(hashOf(value, 0xcbf29ce484222325u)));
    return "halfscope cache 1 " + nameOf(key) + sum;
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

} // namespace

std::string FileCache::defaultFolder() {
    if (const std::string cache = environment("XDG_CACHE_HOME"); cache.starts_with('/'))
        return cache + "/halfscope";
    if (const std::string home = environment("HOME"); home.starts_with('/'))
        return home + "/.cache/halfscope";
    return {};
}

FileCache::FileCache(std::string folder, size_t mostBytes)
    : m_folder(std::move(folder)), m_mostBytes(mostBytes) {}

std::string FileCache::fileOf(std::string_view key) const {
    return (fs::path(m_folder) / (nameOf(key) + kExtension)).string();
}

std::optional<std::string> FileCache::get(std::string_view key) const {
    if (m_folder.empty()) return std::nullopt;
    try {
        if (!fs::is_regular_file(fileOf(key))) return std::nullopt;
        const std::string content = readFile(fileOf(key));
        const size_t line = content.find('\n');
        if (line == std::string::npos) return std::nullopt;
        const std::string_view value = std::string_view(content).substr(line + 1);
        if (content.compare(0, line + 1, headerOf(key, value)) != 0) return std::nullopt;
        return std::string(value);
    } catch (const std::exception&) {
        return std::nullopt; // as good as not there
    }
}

void FileCache::put(std::string_view key, std::string_view value) const {
    if (m_folder.empty()) return;
    try {
        fs::create_directories(m_folder);
        writeFileAtomically(fileOf(key), headerOf(key, value) + std::string(value));
        shrink();
    } catch (const std::exception&) {
        return; // a full or read-only disk: the next start takes as long as this one
    }
}

void FileCache::shrink() const {
    struct Entry {
        fs::file_time_type time;
        fs::path path;
        size_t bytes;
    };
    std::vector<Entry> entries;
    size_t total = 0;
    for (const fs::directory_entry& file : fs::directory_iterator(m_folder)) {
        if (file.path().extension() != kExtension || !file.is_regular_file()) continue;
        entries.push_back({file.last_write_time(), file.path(), file.file_size()});
        total += entries.back().bytes;
    }
    if (total <= m_mostBytes) return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.time < b.time; });
    for (const Entry& entry : entries) {
        // leaves room, so that not every put() has to make some
        if (total <= m_mostBytes / 4 * 3) break;
        fs::remove(entry.path);
        total -= entry.bytes;
    }
}

} // namespace halfscope::cuda
