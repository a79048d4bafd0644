// An SQLite file: statements with values, and errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace halfscope {

/// A prepared statement. Only one thread at a time may use it; it must not outlive its database.
class Statement {
public:
    Statement(sqlite3*, const std::string& path, std::string_view sql);
    /// Sets one of the parameters ?1, ?2, ...; it keeps the value until it is bound again.
    Statement& bind(int parameter, int64_t);
    Statement& bind(int parameter, double);
    Statement& bind(int parameter, std::string_view text);
    Statement& bind(int parameter, std::span<const std::byte>);
    /// Moves to the next row and returns whether there is one. After the last row the statement can
    /// run again.
    bool next();
    /// Ends the statement's run at the end of a scope, also when an exception leaves it. Whoever
    /// reads all rows needs none.
    class Until {
    public:
        explicit Until(Statement& statement) : m_statement(statement) {}
        ~Until() { m_statement.reset(); }
        Until(const Until&) = delete;
        Until& operator=(const Until&) = delete;

    private:
        Statement& m_statement;
    };
    /// Runs a statement that has no rows.
    void run() {
        while (next()) {
        }
    }
    // Values of the row; columns count from 0, and their memory is valid until next().
    int64_t whole(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::span<const std::byte> bytes(int column) const;

private:
    void reset();
    void check(int result) const;
    struct Finalize {
        void operator()(sqlite3_stmt*) const;
    };
    sqlite3* m_database;
    std::string m_path;
    std::unique_ptr<sqlite3_stmt, Finalize> m_statement;
};

/// Throws RunError "PATH: database disk image is malformed" for whatever fails.
class Database {
public:
    enum class Access { ReadOnly, LeavesLog, Sealed, Create };
    /// Access::Create is for one writer with readers beside it (write-ahead log); what is committed
    /// survives a power cut. Access::LeavesLog reads a file that its writer left behind: the log
    /// stays as it is. The last of other connections deletes it, and SQLite takes one that is
    /// damaged for a shorter one. Access::Sealed is the same in a folder that cannot be written: it
    /// takes no locks, so that nobody may write the file meanwhile.
    Database(std::string path, Access);
    void run(const char* sql) const;
    Statement prepare(std::string_view sql) const { return {m_database.get(), m_path, sql}; }
    int64_t lastKey() const;
    /// PRAGMA auto_vacuum of a file that gives room back without a copy of its rows.
    static constexpr int64_t kIncremental = 2;
    bool hasTable(std::string_view) const;
    /// Gives the room of deleted rows back to the disk. In a file of an earlier version all rows
    /// are copied for it, so that the disk must have room for them.
    void giveRoomBack() const;
    /// Whether the path no longer leads to this file: somebody has removed, renamed or replaced it.
    /// What is written is then lost at the end, although nothing fails before.
    bool hasMoved() const;
    /// Writes all that is committed, with the same keys, to a new file, which has no log and is on
    /// the disk. Works when the file has moved, too. A failure may leave a part of it.
    void copyTo(const std::string& path) const;
    const std::string& path() const { return m_path; }

private:
    struct Close {
        void operator()(sqlite3*) const;
    };
    std::string m_path;
    std::unique_ptr<sqlite3, Close> m_database;
};

} // namespace halfscope
