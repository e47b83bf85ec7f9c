// The parts of Argo CD that the test bed runs, in one binary: a variable of the environment says which one it is, as in
// Argo CD's own. It calls itself by that variable, too, when git wants a password.
package main

import (
	"fmt"
	"os"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	askpass "github.com/argoproj/argo-cd/v3/cmd/argocd-git-ask-pass/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

var parts = map[string]func() *cobra.Command{
	"argocd-application-controller": controller.NewCommand,
	"argocd-git-ask-pass":           askpass.NewCommand,
	"argocd-repo-server":            reposerver.NewCommand,
}

func main() {
	part := parts[os.Getenv("ARGOCD_BINARY_NAME")]
	if part == nil {
		fmt.Fprintln(os.Stderr, "ARGOCD_BINARY_NAME must name the part to run")
		os.Exit(2)
	}
	if part().Execute() != nil {
		os.Exit(1)
	}
}
