#!/usr/bin/env python3
"""A server that speaks OpenAI's interface, well or badly by its path, for tests. Prints the port that it listens on.

/v1/completions, /v1/chat/completions   five pieces of text, then [DONE]; counts the requests it has seen
/slow/...       the same, 20 ms before each piece
/talk/...       as slow; GET /talk has the bodies of these requests
/usage/...      with the server's own count of tokens, 9
/late/...       as slow, then 300 ms until the reason, a count of 5 tokens and [DONE]
/whole/...      one JSON answer, not streamed
/reset/...      resets the connection after two pieces
/short/...      closes the connection after two pieces, without an end
/badutf8/...    a piece that is no UTF-8
/badchunk/...   a chunk whose size is no number
/notjson/...    a piece that is no JSON
/error/...      status 500 with a message
/errorpiece/... an error in the stream
/silent/...     never answers
/stall/...      stops for ever after two pieces of every fourth answer
/tools/...      a tool call alone, in one piece without arguments, with the server's own count, 12
/reasoning/...  three pieces of reasoning alone
/v1/embeddings  a vector, and the tokens of the input, 7
/long/...       an event without end
"""
import json, socket, struct, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    lock, seen, talk = threading.Lock(), 0, []

    def log_message(self, *args):
        pass

    def chunk(self, data):
        self.wfile.write(b'%x\r\n%s\r\n' % (len(data), data))
        self.wfile.flush()

    def event(self, value):
        text = value if isinstance(value, str) else json.dumps(value)
        self.chunk(b'data: ' + text.encode() + b'\n\n')

    def piece(self, text, **more):
        chat = '/chat/' in self.path
        choice = {'index': 0, 'delta': {'content': text}} if chat else {'index': 0, 'text': text}
        self.event({'choices': [dict(choice, finish_reason=None)], **more})

    def begin(self, kind='text/event-stream'):
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()

    def plain(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        with Handler.lock:
            self.plain(200, Handler.talk)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        mode = self.path.split('/')[1]
        if self.path == '/v1/embeddings':
            if 'stream' in request or not isinstance(request.get('input'), str):
                return self.plain(400, {'error': {'message': 'not what was expected'}})
            return self.plain(200, {'data': [{'object': 'embedding', 'embedding': [0.5, -0.5]}], 'usage': {'prompt_tokens': 7}})
        if request.get('stream') is not True or not (request.get('prompt') or request.get('messages')):
            return self.plain(400, {'error': {'message': 'not what was expected'}})
        if mode == 'error':
            return self.plain(500, {'error': {'message': 'out of memory'}})
        if mode == 'silent':
            time.sleep(30)
            return None
        if mode == 'whole':
            return self.plain(200, {'choices': [{'text': 'all at once', 'finish_reason': 'stop'}], 'usage': {'completion_tokens': 3}})
        self.begin()
        if mode == 'long':
            self.wfile.write(b'%x\r\n' % (8 << 20))
            try:
                self.wfile.write(b'data: ' + b'x' * ((8 << 20) - 6))
            except OSError:
                pass
            self.close_connection = True
            return None
        if mode in ('tools', 'reasoning'):
            function = {'index': 0, 'function': {'name': 'weather', 'arguments': ''}}
            deltas = [{'tool_calls': [function]}] if mode == 'tools' else [{'reasoning_content': 'hm'}] * 3
            for delta in deltas + [{}]:
                self.event({'choices': [{'index': 0, 'delta': delta, 'finish_reason': None if delta else 'stop'}]})
            self.event({'choices': [], 'usage': {'completion_tokens': 12, 'prompt_tokens': 90}})
            self.event('[DONE]')
            self.wfile.write(b'0\r\n\r\n')
            return None
        with Handler.lock:
            Handler.seen += 1
            if mode == 'talk':
                Handler.talk.append(request)
            stalls = mode == 'stall' and Handler.seen % 4 == 0
        for i in range(5):
            if i == 2 and stalls:
                time.sleep(30)
            if mode in ('slow', 'late', 'talk'):
                time.sleep(0.02)
            if i == 2 and mode == 'reset':
                time.sleep(0.1)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                self.close_connection = True
                self.wfile.flush()
                self.connection.close()
                return None
            if i == 2 and mode == 'short':
                self.close_connection = True
                self.wfile.write(b'0\r\n\r\n')
                return None
            if i == 2 and mode == 'badutf8':
                self.chunk(b'data: {"choices": [{"text": "\xff\xfe"}]}\n\n')
                continue
            if i == 2 and mode == 'badchunk':
                self.wfile.write(b'zz\r\nwhat\r\n')
                self.close_connection = True
                return None
            if i == 2 and mode == 'notjson':
                self.event('{"choices": ')
                continue
            if i == 2 and mode == 'errorpiece':
                self.event({'error': {'message': 'overloaded'}})
                continue
            self.piece(' word%d' % i)
        if mode == 'late':
            time.sleep(0.3)
            self.event({'choices': [{'index': 0, 'text': '', 'finish_reason': 'stop'}]})
            self.event({'choices': [], 'usage': {'completion_tokens': 5}})
        if mode == 'usage':
            self.event({'choices': [], 'usage': {'completion_tokens': 9}})
        self.event('[DONE]')
        self.wfile.write(b'0\r\n\r\n')
        return None


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *args):
        pass


server = Server(('127.0.0.1', 0), Handler)
print(server.server_address[1], flush=True)
# Ends with whoever started it: its input ends then.
threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
server.serve_forever()
