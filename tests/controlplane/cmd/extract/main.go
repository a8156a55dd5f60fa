// Command extract prints what the embedded API server must know of the built-in types: the
// resources that a server offers, the shape of every Go struct that they reach, and the defaults
// that the Go scheme gives. It asks no server; the files in discovery are what one of each version said.
//
//	cd tests/controlplane && go run ./cmd/extract > ../../apiserver/data/builtin.json
//
// The modules decide the version of Kubernetes: those of another one print its data.
//
//	go run -modfile=versions/1.33/go.mod ./cmd/extract
//
// With -default it reads one object a line and prints each as the scheme defaults it instead. With
// -protobuf it prints objects of all types as JSON and as protobuf, one a line:
//
//	go run ./cmd/extract -protobuf > ../../apiserver/src/protobuf/tests/cases.jsonl
//
// With -openapi it prints the definitions of all types with their descriptions, with -discovery what a
// server lists, with -bootstrap the objects of flow control that a server creates:
//
//	go run ./cmd/extract -openapi | gzip -9n > ../../apiserver/data/openapi.gz
//	go run ./cmd/extract -discovery > ../../apiserver/data/discovery.txt
//	go run ./cmd/extract -bootstrap > ../../apiserver/data/flowcontrol.txt
//
// With -rbac it prints the roles and bindings that a server makes when it starts:
//
//	go run ./cmd/extract -rbac > ../../apiserver/data/rbac.json
//
// With -internal it prints how Go writes the structs that messages of the server show:
//
//	go run ./cmd/extract -internal > ../../apiserver/data/internal.json
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
)

func main() {
	log.SetFlags(0)
	defaultOnly := flag.Bool("default", false, "default the objects on stdin, one JSON object a line")
	protobufCases := flag.Bool("protobuf", false, "print objects of all types as JSON and as protobuf")
	openAPI := flag.Bool("openapi", false, "print the OpenAPI definitions of all types")
	discoveryOnly := flag.Bool("discovery", false, "print the groups, versions and resources that a server lists")
	bootstrapOnly := flag.Bool("bootstrap", false, "print the objects of flow control that a server creates")
	roles := flag.Bool("rbac", false, "print the roles and bindings of a new cluster")
	internal := flag.Bool("internal", false, "print how Go writes the structs that messages show")
	flag.Parse()
	run := printData
	if *openAPI {
		run = printOpenAPI
	}
	if *bootstrapOnly {
		run = printBootstrap
	}
	if *discoveryOnly {
		run = printDiscovery
	}
	if *roles {
		run = printRoles
	}
	if *internal {
		run = printInternal
	}
	if *protobufCases {
		run = printCases
	}
	if *defaultOnly {
		run = func(out io.Writer) error { return defaultLines(os.Stdin, out) }
	}
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// kubernetesVersion is the version of the modules that this program is built from.
func kubernetesVersion() string {
	built, _ := debug.ReadBuildInfo()
	for _, module := range built.Deps {
		if module.Path == "k8s.io/kubernetes" {
			return module.Version
		}
	}
	panic("built without k8s.io/kubernetes")
}

func printData(out io.Writer) error {
	resources, err := servedResources()
	if err != nil {
		return err
	}
	types := newTypeTable()
	for i := range resources {
		resources[i].Type, err = types.add(resources[i].goType)
		if err != nil {
			return fmt.Errorf("%s: %w", resources[i].Kind, err)
		}
	}
	if err := addDefaults(types, resources); err != nil {
		return err
	}
	if err := addMessages(types); err != nil {
		return err
	}
	return writeData(out, resources, types)
}

// writeData prints one resource and one type a line, so that a new version is a readable diff.
func writeData(out io.Writer, resources []resource, types *typeTable) error {
	buffered := bufio.NewWriter(out)
	version, err := json.Marshal(kubernetesVersion())
	if err != nil {
		return err
	}
	fmt.Fprintf(buffered, "{\"version\":%s,\n\"resources\":[\n", version)
	for i := range resources {
		if err := writeLine(buffered, "", &resources[i], i == len(resources)-1); err != nil {
			return err
		}
	}
	fmt.Fprint(buffered, "],\n\"messages\":[\n")
	for i := range messages {
		if err := writeLine(buffered, "", &messages[i], i == len(messages)-1); err != nil {
			return err
		}
	}
	fmt.Fprint(buffered, "],\n\"types\":{\n")
	names := types.sortedNames()
	for i, name := range names {
		key := fmt.Sprintf("%q:", name)
		if err := writeLine(buffered, key, types.byName[name], i == len(names)-1); err != nil {
			return err
		}
	}
	fmt.Fprint(buffered, "}}\n")
	return buffered.Flush()
}

func writeLine(out io.Writer, key string, value any, last bool) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	end := ",\n"
	if last {
		end = "\n"
	}
	_, err = fmt.Fprintf(out, "%s%s%s", key, text, end)
	return err
}
