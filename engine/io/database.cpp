// Calls of SQLite.
#include "engine/io/database.h"

#include "engine/core/error.h"
#include "engine/io/open_folder.h"

#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>

namespace halfscope {

namespace {

[[noreturn]] void fail(sqlite3* database, const std::string& path) {
    throw RunError(within(path, database ? Message::data(sqlite3_errmsg(database))
                                         : Message(phrase("Files", "out of memory"))));
}

/// SQLite would refuse a link in any part of the path, but users' folders may be links.
std::string inRealFolder(const std::string& path) {
    namespace fs = std::filesystem;
    const fs::path given(path);
    std::error_code error;
    const fs::path folder =
        fs::canonical(given.has_parent_path() ? given.parent_path() : fs::path("."), error);
    return error ? path : (folder / given.filename()).string();
}

/// Returns the URI of a file that nobody changes and that has no log.
std::string immutableUri(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path) {
        constexpr std::string_view kHex = "0123456789ABCDEF";
        const auto code = static_cast<unsigned char>(c);
        if (c == '%' || c == '?' || c == '#')
            uri += {'%', kHex[code >> 4], kHex[code & 15]};
        else
            uri += c;
    }
    return uri + "?immutable=1";
}

/// SQLite would make the index of a log, or a log, beside the file. With exclusive locking it keeps
/// the index in memory, but it needs to be allowed to write for such a lock: hence no locks. It
/// does not read the log of an immutable file.
int openSealed(const std::string& path, sqlite3** opened) {
    constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_NOFOLLOW;
    std::error_code error;
    const auto logBytes = std::filesystem::file_size(path + "-wal", error);
    if (error || logBytes == 0)
        return sqlite3_open_v2(immutableUri(path).c_str(), opened, kFlags | SQLITE_OPEN_URI,
                               nullptr);
    const int result = sqlite3_open_v2(path.c_str(), opened, kFlags, "unix-none");
    if (result != SQLITE_OK) return result;
    return sqlite3_exec(*opened, "PRAGMA locking_mode=EXCLUSIVE", nullptr, nullptr, nullptr);
}

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(sqlite3* database, const std::string& path, std::string_view sql)
    : m_database(database), m_path(path) {
    sqlite3_stmt* made = nullptr;
    check(sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &made, nullptr));
    m_statement.reset(made);
}

void Statement::check(int result) const {
    if (result != SQLITE_OK) fail(m_database, m_path);
}

Statement& Statement::bind(int parameter, int64_t value) {
    check(sqlite3_bind_int64(m_statement.get(), parameter, value));
    return *this;
}

Statement& Statement::bind(int parameter, double value) {
    check(sqlite3_bind_double(m_statement.get(), parameter, value));
    return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
    check(sqlite3_bind_text64(m_statement.get(), parameter, text.data(), text.size(),
                              SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind(int parameter, std::span<const std::byte> bytes) {
    check(sqlite3_bind_blob64(m_statement.get(), parameter, bytes.data(), bytes.size(),
                              SQLITE_TRANSIENT));
    return *this;
}

void Statement::reset() { sqlite3_reset(m_statement.get()); }

bool Statement::next() {
    const int result = sqlite3_step(m_statement.get());
    if (result == SQLITE_ROW) return true;
    reset();
    if (result != SQLITE_DONE) fail(m_database, m_path);
    return false;
}

int64_t Statement::whole(int column) const {
    return sqlite3_column_int64(m_statement.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(m_statement.get(), column);
}

std::string Statement::text(int column) const {
    const auto bytes = this->bytes(column);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> Statement::bytes(int column) const {
    const auto* data =
        static_cast<const std::byte*>(sqlite3_column_blob(m_statement.get(), column));
    return {data, data ? static_cast<size_t>(sqlite3_column_bytes(m_statement.get(), column)) : 0};
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Database::Database(std::string path, Access access) : m_path(std::move(path)) {
    const int flags = access == Access::Create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                               : SQLITE_OPEN_READWRITE;
    sqlite3* opened = nullptr;
    const std::string real = inRealFolder(m_path);
    // SQLite also reads a log that was left behind, for which it must be allowed to write
    const int result =
        access == Access::Sealed
            ? openSealed(real, &opened)
            : sqlite3_open_v2(real.c_str(), &opened,
                              flags | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_NOFOLLOW, nullptr);
    m_database.reset(opened);
    if (result != SQLITE_OK) fail(opened, m_path);
    sqlite3_busy_timeout(opened, 5000); // ms
    if (access == Access::LeavesLog || access == Access::Sealed)
        sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    if (access == Access::Create)
        run("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
}

void Database::run(const char* sql) const {
    if (sqlite3_exec(m_database.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        fail(m_database.get(), m_path);
}

void Database::giveRoomBack() const {
    Statement kind = prepare("PRAGMA auto_vacuum");
    const Statement::Until end(kind);
    const bool newer = kind.next() && kind.whole(0) == kIncremental;
    while (kind.next()) { // VACUUM suffers no other statement beside it
    }
    run(newer ? "PRAGMA incremental_vacuum" : "VACUUM");
}

bool Database::hasMoved() const {
    int moved = 0;
    const int result =
        sqlite3_file_control(m_database.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return result == SQLITE_OK && moved != 0;
}

void Database::copyTo(const std::string& path) const {
    const std::string to = inRealFolder(path);
    prepare("VACUUM INTO ?1").bind(1, to).run();
    // SQLite does not wait for the disk here
    const Descriptor file(::open(to.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    const int error = file.isOpen() ? syncToDisk(file.number()) : errno;
    if (error != 0) failFile(path, phrase("Files", "%1: cannot write to disk: %2"), error);
}

bool Database::hasTable(std::string_view table) const {
    Statement row = prepare("SELECT 1 FROM sqlite_master WHERE name = ?1");
    row.bind(1, table);
    return row.next();
}

int64_t Database::lastKey() const { return sqlite3_last_insert_rowid(m_database.get()); }

} // namespace halfscope
