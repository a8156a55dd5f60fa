// Command kube-apiserver is the published Kubernetes API server, unchanged but for leaving with the test that started it.
package main

import (
	"os"

	"controlplane/internal/parent"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	parent.ExitWhenGone()
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
