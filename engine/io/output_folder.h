// A folder that one program at a time writes into.
#pragma once

#include "engine/io/open_folder.h"

#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// While it lives no other program can have one for the same folder: two that write there at once
/// would mix their files. The system ends the lock together with the process, however that ends,
/// and on whatever machine or in whatever container it runs. Where the file system knows no locks
/// nobody is kept out.
class OutputFolder : public OpenFolder {
public:
    /// Makes the folder and its parents. RunError, also when another program has the folder: then
    /// nothing in it has changed. Removes temporary files that killed programs left.
    explicit OutputFolder(const std::string& path);
    ~OutputFolder();
    OutputFolder(const OutputFolder&) = delete;
    OutputFolder& operator=(const OutputFolder&) = delete;

    /// A whole file, which is there completely or not at all, also after a power cut. RunError.
    void write(const std::string& name, std::string_view content) const;
    /// The same for a content in pieces. What had the name gets the name `before`, if one is given;
    /// a reader finds a whole file under `name` at any moment.
    void write(const std::string& name, std::span<const std::string_view> parts,
               const std::string& before = {}) const;

private:
    void lock();
    void removeLeftovers() const;
    void keepAs(const std::string& before, const std::string& name) const;

    Descriptor m_lock; ///< of a file that machines which share the folder see
};

} // namespace halfscope
