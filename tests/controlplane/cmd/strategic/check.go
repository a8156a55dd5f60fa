package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
)

type catalog struct {
	Resources []struct {
		Group, Version, Kind, Type string
	}
	Types map[string]struct {
		Fields map[string]struct {
			Strategy string `json:"ps"`
			Key      string `json:"pk"`
		}
	}
}

// check compares every struct that the resources of the data file reach.
func check(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var known catalog
	if err := json.Unmarshal(text, &known); err != nil {
		return err
	}
	seen := map[reflect.Type]bool{}
	for _, resource := range known.Resources {
		object, err := newObject(strings.Trim(resource.Group+"/"+resource.Version+"/"+resource.Kind, "/"))
		if err != nil {
			return err
		}
		compare(reflect.TypeOf(object).Elem(), resource.Type, known, seen)
	}
	fmt.Println(len(seen), "structs compared")
	return nil
}

func compare(goType reflect.Type, name string, known catalog, seen map[reflect.Type]bool) {
	if _, isKnown := known.Types[name]; seen[goType] || !isKnown {
		return
	}
	seen[goType] = true
	compareFields(goType, name, known, seen)
}

func compareFields(goType reflect.Type, name string, known catalog, seen map[reflect.Type]bool) {
	for i := range goType.NumField() {
		field := goType.Field(i)
		json, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && json == "" && field.Type.Kind() == reflect.Struct {
			compareFields(field.Type, name, known, seen)
			continue
		}
		told, has := known.Types[name].Fields[json]
		if has && (told.Strategy != field.Tag.Get("patchStrategy") || told.Key != field.Tag.Get("patchMergeKey")) {
			fmt.Println(name, json, told.Strategy, told.Key, "but the tags say", field.Tag)
		}
		if inner := element(field.Type); inner.Kind() == reflect.Struct {
			compare(inner, nameOf(inner), known, seen)
		}
	}
}

func element(goType reflect.Type) reflect.Type {
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice || goType.Kind() == reflect.Map {
		goType = goType.Elem()
	}
	return goType
}

// nameOf is the name of the data file: the last two parts of the package, and the name.
func nameOf(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(append(parts[len(parts)-2:], goType.Name()), ".")
}
