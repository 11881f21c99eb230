// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "base/error.h"

namespace howard::tracking {
namespace {

std::string hint_for(int status) {
  switch (status & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "again when the other program has finished";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "another --db, in a folder that you may write to";
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return "again with more room on that disk; nothing was changed";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "another --db, or a copy from an export (history --export)";
    default:
      return "";
  }
}

/// In a folder that may not be written to, SQLite cannot make the files beside a database that it
/// wants even for reading. Such a database is read as one that nobody changes.
std::string address_of(const std::filesystem::path& path, bool unchanging) {
  std::string address = "file:";
  for (const char letter : std::filesystem::absolute(path).string()) {
    if (letter == '?' || letter == '#' || letter == '%') {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(letter);
      address += '%';
      address += kDigits[byte >> 4];
      address += kDigits[byte & 15];
    } else {
      address += letter;
    }
  }
  return address + (unchanging ? "?immutable=1" : "");
}

bool lies_in_fixed_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  return ::access(folder.c_str(), W_OK) != 0;
}

}  // namespace

SqliteFile::SqliteFile(std::filesystem::path path, Access access, int patience_ms)
    : path_(std::move(path)) {
  const bool reads = access == Access::read;
  std::error_code ignored;
  const std::filesystem::file_status facts = std::filesystem::status(path_, ignored);
  const bool is_there = std::filesystem::exists(facts);
  if ((is_there && !std::filesystem::is_regular_file(facts)) || (reads && !is_there)) {
    // A pipe would be waited for, and a device takes what nobody reads again.
    const bool is_folder = std::filesystem::is_directory(facts);
    const bool is_other = is_there && !is_folder;
    throw Error({.attempted = "open the database " + path_.string(),
                 .value = is_other    ? "it is a device or a pipe"
                          : is_folder ? "it is a folder"
                                      : "there is no such file",
                 .accepted = "a file that track has written",
                 .hint = "run_experiment track RESULTS --db " +
                         (is_other ? std::string("perf.db") : path_.string())});
  }
  if (!reads && path_.has_parent_path()) {
    std::filesystem::create_directories(path_.parent_path(), ignored);
  }
  // A reader that may write nothing cannot take away the files beside a database either, its own or
  // those of a program that was killed. So it may write, if the system lets it, and is kept from it
  // below.
  const bool fixed = reads && lies_in_fixed_folder(path_);
  const int flags = SQLITE_OPEN_URI | (fixed ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    (reads ? 0 : SQLITE_OPEN_CREATE);
  const std::string address = address_of(path_, fixed);
  const int status = sqlite3_open_v2(address.c_str(), &handle_, flags, nullptr);
  if (status != SQLITE_OK) {
    try {
      fail(status);
    } catch (...) {
      sqlite3_close(handle_);
      throw;
    }
  }
  sqlite3_busy_timeout(handle_, patience_ms);
  if (reads) sqlite3_exec(handle_, "PRAGMA query_only=ON", nullptr, nullptr, nullptr);
}

SqliteFile::~SqliteFile() { sqlite3_close(handle_); }

void SqliteFile::fail(int status) const {
  throw Error({.attempted = "use the database " + path_.string(),
               .value = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(status),
               .hint = hint_for(status)});
}

void SqliteFile::execute(const char* sql) {
  const int status = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail(status);
}

std::int64_t SqliteFile::pragma(const std::string& name) {
  Statement statement(*this, "PRAGMA " + name);
  return statement.next() ? statement.integer(0) : 0;
}

std::int64_t SqliteFile::last_row() const { return sqlite3_last_insert_rowid(handle_); }

Statement::Statement(const SqliteFile& file, std::string_view sql) : file_(file) {
  const int status = sqlite3_prepare_v2(file.handle(), sql.data(), static_cast<int>(sql.size()),
                                        &handle_, nullptr);
  if (status != SQLITE_OK) file.fail(status);
}

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement& Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(handle_, parameter, value);
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  sqlite3_bind_double(handle_, parameter, value);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text(handle_, parameter, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::bind_bytes(int parameter, std::string_view bytes) {
  sqlite3_bind_blob(handle_, parameter, bytes.data(), static_cast<int>(bytes.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

bool Statement::next() {
  const int status = sqlite3_step(handle_);
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) file_.fail(status);
  return false;
}

void Statement::run() {
  next();
  reset();
}

void Statement::reset() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::number(int column) const { return sqlite3_column_double(handle_, column); }

std::string Statement::text(int column) const {
  const unsigned char* const text = sqlite3_column_text(handle_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return text == nullptr ? "" : std::string(reinterpret_cast<const char*>(text), size);
}

std::string_view Statement::bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(handle_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return bytes == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(bytes), size);
}

Transaction::Transaction(SqliteFile& file) : file_(file) { file_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  // A failure here has a reason that was already reported: the transaction is undone on its own.
  if (open_) sqlite3_exec(file_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  file_.execute("COMMIT");
  open_ = false;
}

}  // namespace howard::tracking
