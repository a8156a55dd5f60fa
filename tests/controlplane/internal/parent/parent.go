// Package parent ends a program together with the test process that started it. It does nothing for a program that
// a person starts.
package parent

import (
	"io"
	"os"
)

// follow asks for it: the starter holds the other end of standard input and never writes to it, so the operating
// system closes it however the starter ends.
const follow = "OPERETTA_EXIT_WHEN_STDIN_CLOSES"

// ExitWhenGone leaves the process when standard input closes, if the starter asked for that.
func ExitWhenGone() {
	if os.Getenv(follow) == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
}
