// Keeps on disk what takes long to find out: compiled kernels and choices of algorithms. Losing it
// costs nothing but time, so no failure here is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace halfscope::cuda {

class FileCache {
public:
    /// Returns $XDG_CACHE_HOME/halfscope or ~/.cache/halfscope. When there is neither, the name is
    /// empty.
    static std::string defaultFolder();
    /// With an empty folder name it keeps nothing.
    explicit FileCache(std::string folder, size_t mostBytes = size_t{256} << 20);

    /// Returns what was put under exactly this key. A file counts as missing when it is damaged,
    /// was not written by this class, or could have been written by another user: because it
    /// belongs to one, or because it or its folder may be written by the group or by others.
    std::optional<std::string> get(std::string_view key) const;
    /// Adds or replaces a value, unless another user could write to the folder. When the folder
    /// grows beyond its limit, the files that were written longest ago are removed.
    void put(std::string_view key, std::string_view value) const;
    /// Returns the file of a key.
    std::string fileOf(std::string_view key) const;

private:
    void shrink() const;

    std::string m_folder;
    size_t m_mostBytes;
};

} // namespace halfscope::cuda
