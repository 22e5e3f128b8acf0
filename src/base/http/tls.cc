#include "base/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/text.h"

namespace perfcast {
namespace {

// A key that needs a password can't be used: nobody is there to type it.
int no_password(char*, int, int, void*) { return 0; }

Error bad_certificate(const std::string& what, const std::string& file) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return Error{"bad-certificate", what + (code != 0 ? ": " + std::string(text.data()) : ""), printable(file),
               "PEM files of a certificate with its chain, and of its key without a password"};
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const std::string& certificate, const std::string& key) {
  ERR_clear_error();
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  if (context == nullptr) return bad_certificate("TLS can't be had", certificate);
  std::shared_ptr<const TlsContext> owner(new TlsContext(context));
  SSL_CTX_set_default_passwd_cb(context, no_password);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return bad_certificate("the certificate can't be used", certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return bad_certificate("the key can't be used", key);
  }
  if (SSL_CTX_check_private_key(context) != 1) return bad_certificate("the key is not that of the certificate", key);
  return owner;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, int socket)
    : context_(std::move(context)), session_(SSL_new(context_->context_)) {
  has_failed_ = session_ == nullptr || SSL_set_fd(session_, socket) != 1;
  if (!has_failed_) SSL_set_accept_state(session_);
}

TlsSession::~TlsSession() { SSL_free(session_); }

ssize_t TlsSession::outcome(int result) {
  if (result > 0) return result;
  const int problem = SSL_get_error(session_, result);
  waits_to_write_ = problem == SSL_ERROR_WANT_WRITE;
  if (problem == SSL_ERROR_WANT_READ || problem == SSL_ERROR_WANT_WRITE) {
    errno = EAGAIN;
    return -1;
  }
  has_failed_ = problem != SSL_ERROR_ZERO_RETURN;
  errno = ECONNRESET;
  return has_failed_ ? -1 : 0;
}

ssize_t TlsSession::read(char* bytes, size_t count) {
  if (has_failed_) return 0;
  ERR_clear_error();
  waits_to_write_ = false;
  return outcome(SSL_read(session_, bytes, static_cast<int>(std::min<size_t>(count, INT_MAX))));
}

ssize_t TlsSession::write(const char* bytes, size_t count) {
  if (has_failed_) {
    errno = ECONNRESET;
    return -1;
  }
  ERR_clear_error();
  waits_to_write_ = false;
  return outcome(SSL_write(session_, bytes, static_cast<int>(std::min<size_t>(count, INT_MAX))));
}

bool TlsSession::has_more() const { return !has_failed_ && SSL_pending(session_) > 0; }

void TlsSession::end() {
  if (has_failed_ || SSL_in_init(session_) != 0) return;
  ERR_clear_error();
  SSL_shutdown(session_);
}

}  // namespace perfcast
