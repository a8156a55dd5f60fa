// Command strategic applies strategic merge patches as kube-apiserver does, and prints what comes out.
//
//	cd tests/controlplane && go run ./cmd/strategic < cases.jsonl > answers.jsonl
//
// A line of the input is {"type": "apps/v1/Deployment", "original": {...}, "patch": {...}}. A line of
// the output is the same with "result" or "error", and is a line of the input again: so the answers in
// apiserver/src/strategic/testdata are renewed. Defaults, validation and the reading of bodies are not
// part of it. Where the answer depends on the order in which Go reads a map, there is no true one.
//
// With -check it reads builtin.json, and names each field whose patch strategy or merge key differs
// from the tags of the Go struct.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

type question struct {
	Name     string          `json:"name,omitempty"`
	Type     string          `json:"type"`
	Original json.RawMessage `json:"original"`
	Patch    json.RawMessage `json:"patch"`
}

type answer struct {
	question
	Result map[string]any `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"`
}

func main() {
	log.SetFlags(0)
	data := flag.String("check", "", "compare the patch strategies in this builtin.json with the tags")
	flag.Parse()
	if err := apiextensionsv1.AddToScheme(scheme.Scheme); err != nil {
		log.Fatal(err)
	}
	run := func() error { return answerLines(os.Stdin, os.Stdout) }
	if *data != "" {
		run = func() error { return check(*data) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func answerLines(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return fmt.Errorf("%s: %w", lines.Text(), err)
		}
		given, err := patched(asked)
		if err != nil {
			return fmt.Errorf("%s: %w", lines.Text(), err)
		}
		if err := encoder.Encode(given); err != nil {
			return err
		}
	}
	return lines.Err()
}

func patched(asked question) (answer, error) {
	object, err := newObject(asked.Type)
	if err != nil {
		return answer{}, err
	}
	var original, patch map[string]any
	if err := utiljson.Unmarshal(asked.Original, &original); err != nil {
		return answer{}, err
	}
	if err := utiljson.Unmarshal(asked.Patch, &patch); err != nil {
		return answer{}, err
	}
	result, err := strategicpatch.StrategicMergeMapPatch(original, patch, object)
	if err != nil {
		return answer{question: asked, Error: err.Error()}, nil
	}
	return answer{question: asked, Result: result}, nil
}

func newObject(name string) (runtime.Object, error) {
	parts := strings.Split(name, "/")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	if len(parts) != 3 {
		return nil, fmt.Errorf("%s is not group/version/kind", name)
	}
	return scheme.Scheme.New(schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]})
}
