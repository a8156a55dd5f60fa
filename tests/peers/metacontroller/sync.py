"""`Greeting` with Metacontroller: the webhook returns the ConfigMap that should exist."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


# ANCHOR: sync
def sync(parent, children):
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": parent["metadata"]["name"]},
        "data": {"hello": parent["spec"]["name"]},
    }
    status = {"greeted": len(children["ConfigMap.v1"])}
    return {"status": status, "children": [config_map]}


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        response = sync(request["parent"], request["children"])
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(response).encode())


# ANCHOR_END: sync

if __name__ == "__main__":
    address = os.environ.get("HOST", ""), int(os.environ.get("PORT", "80"))
    server = ThreadingHTTPServer(address, Webhook)
    print(server.server_port, flush=True)
    server.serve_forever()
