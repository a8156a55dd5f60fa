// Command kube-controller-manager is the published controller manager, unchanged but for leaving with the test that started it.
package main

import (
	"os"

	"controlplane/internal/parent"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	parent.ExitWhenGone()
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
