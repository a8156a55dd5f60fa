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

// remove names the folder of the whole control plane, for the program that tidies up when the starter could not.
const remove = "OPERETTA_REMOVE_WHEN_STDIN_CLOSES"

// ExitWhenGone leaves the process when standard input closes, if the starter asked for that.
func ExitWhenGone() {
	whenGone(func() {})
}

// ExitAndRemoveWhenGone also removes the folder that the starter named.
func ExitAndRemoveWhenGone() {
	whenGone(func() {
		if folder := os.Getenv(remove); folder != "" {
			_ = os.RemoveAll(folder)
		}
	})
}

func whenGone(tidy func()) {
	if os.Getenv(follow) == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		tidy()
		os.Exit(0)
	}()
}
