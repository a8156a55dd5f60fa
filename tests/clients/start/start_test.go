// Package start is how a test in Go starts the embedded API server. The README of the crate shows it.
package start

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestTheServerIsStarted(t *testing.T) {
	// README: begin
	server := exec.Command("operetta-apiserver", "--kubeconfig", filepath.Join(t.TempDir(), "kubeconfig"))
	output, _ := server.StdoutPipe()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "export KUBECONFIG=") {
	}
	config, err := clientcmd.BuildConfigFromFlags("", strings.TrimPrefix(lines.Text(), "export KUBECONFIG="))
	// README: end
	if err != nil {
		t.Fatal(err)
	}
	version, err := kubernetes.NewForConfigOrDie(config).ServerVersion()
	if err != nil || version.Major != "1" {
		t.Fatal(version, err)
	}
}
