// What takes long to find out, kept on disk: compiled kernels and choices of algorithms. Losing it
// costs time and nothing else, so no failure here is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace halfscope::cuda {

class FileCache {
public:
    /// $XDG_CACHE_HOME/halfscope or ~/.cache/halfscope; none of them: a cache that keeps nothing.
    static std::string defaultFolder();
    /// An empty folder name keeps nothing.
    explicit FileCache(std::string folder, size_t mostBytes = size_t{256} << 20);

    /// What was put under exactly this key. A file counts as missing that is damaged, was not
    /// written by this class, or could have been written by another user: it belongs to one, or it
    /// or its folder may be written by the group or by all.
    std::optional<std::string> get(std::string_view key) const;
    /// Replaces, unless another user could write to the folder. When the folder grows beyond its
    /// limit, the files not written for longest go.
    void put(std::string_view key, std::string_view value) const;
    /// The file of a key.
    std::string fileOf(std::string_view key) const;

private:
    void shrink() const;

    std::string m_folder;
    size_t m_mostBytes;
};

} // namespace halfscope::cuda
