// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace howard::tracking {

/// Holds an open SQLite file. Failures are Errors that name the file and what to do.
class SqliteFile {
 public:
  enum class Access : std::uint8_t { read, write };
  /// Opens `path`, which is created for writing if it is missing. While another program writes, a
  /// statement waits for up to `patience_ms`.
  SqliteFile(std::filesystem::path path, Access access, int patience_ms);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  /// Runs statements that give no rows.
  void execute(const char* sql);
  /// Returns the number of a PRAGMA: "user_version".
  std::int64_t pragma(const std::string& name);
  std::int64_t last_row() const;

  /// Throws the Error for the SQLite status `status`.
  [[noreturn]] void fail(int status) const;
  sqlite3* handle() const { return handle_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
};

/// Holds a compiled statement. Parameters are numbered from 1, columns from 0.
class Statement {
 public:
  Statement(const SqliteFile& file, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_bytes(int parameter, std::string_view bytes);

  /// Returns whether there is a next row.
  bool next();
  /// Runs a statement without rows, and makes it ready to run again.
  void run();
  void reset();

  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  std::string_view bytes(int column) const;  ///< Valid until the next row.

 private:
  const SqliteFile& file_;
  sqlite3_stmt* handle_ = nullptr;
};

/// Undoes a transaction unless it was committed.
class Transaction {
 public:
  explicit Transaction(SqliteFile& file);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  SqliteFile& file_;
  bool open_ = true;
};

}  // namespace howard::tracking
