"""How a test in Python starts the embedded API server. The README of the crate shows it."""

import subprocess

import kubernetes

# README: begin
server = subprocess.Popen(["operetta-apiserver", "--kubeconfig", "kubeconfig"], stdout=subprocess.PIPE, text=True)
for line in server.stdout:
    if line.startswith("export KUBECONFIG="):
        break
client = kubernetes.config.new_client_from_config("kubeconfig")
# README: end
try:
    assert kubernetes.client.VersionApi(client).get_code().major == "1"
finally:
    server.terminate()
