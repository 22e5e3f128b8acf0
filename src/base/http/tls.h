#pragma once
// TLS 1.2 and 1.3 of a server's connections, on sockets that don't block.

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace perfcast {

class TlsContext {
 public:
  // Of a certificate with its chain and its key (PEM). "bad-certificate" names the file that can't be used.
  static Result<std::shared_ptr<const TlsContext>> load(const std::string& certificate, const std::string& key);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

 private:
  friend class TlsSession;
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

// One connection. read() and write() give what recv() and send() would: -1 with EAGAIN where the socket isn't ready, 0
// at the end of what is read.
class TlsSession {
 public:
  TlsSession(std::shared_ptr<const TlsContext> context, int socket);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  ssize_t read(char* bytes, size_t count);
  ssize_t write(const char* bytes, size_t count);
  // Bytes that were received and not yet read: the socket alone doesn't tell.
  bool has_more() const;
  // The last call waits for the socket to take bytes.
  bool waits_to_write() const { return waits_to_write_; }
  // Tells the other side that nothing follows.
  void end();

 private:
  ssize_t outcome(int result);

  std::shared_ptr<const TlsContext> context_;
  ssl_st* session_;
  bool waits_to_write_ = false, has_failed_ = false;
};

}  // namespace perfcast
