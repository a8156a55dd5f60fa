package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
)

// printCases prints questions with random rules, most of which compile.
func printCases(count int, seed int64) {
	g := generator{Rand: rand.New(rand.NewSource(seed))}
	for range count {
		g.variables = nil
		rule := map[string]any{"rule": g.rule()}
		if g.Intn(8) == 0 {
			rule["messageExpression"] = g.expression("string", 2)
		}
		if g.Intn(12) == 0 {
			rule["message"] = "the message"
		}
		if g.Intn(12) == 0 {
			rule["reason"] = g.one("FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate")
		}
		if g.Intn(12) == 0 {
			rule["fieldPath"] = g.one(".s", ".o.name", ".m['k']", "['a-b']")
		}
		question := map[string]any{"schema": schemaWith(rule), "object": g.object()}
		if g.Intn(3) == 0 {
			question["oldObject"] = g.object()
		}
		line, err := json.Marshal(question)
		must(err)
		fmt.Printf("%s\n", line)
	}
}

type generator struct {
	*rand.Rand
	// The names and types of loop variables.
	variables [][2]string
}

func (g *generator) one(of ...string) string {
	return of[g.Intn(len(of))]
}

func (g *generator) rule() string {
	if g.Intn(25) == 0 {
		return g.one(mistakes...)
	}
	return g.expression("bool", 4)
}

// @type@ in a template stands for an expression of that type, and @name=type@ for a loop variable.
func (g *generator) expression(kind string, depth int) string {
	if depth == 0 || g.Intn(6) == 0 {
		leaves := leaves[kind]
		for _, variable := range g.variables {
			if variable[1] == kind {
				leaves = append([]string{variable[0], variable[0]}, leaves...)
			}
		}
		return g.one(leaves...)
	}
	return g.fill(g.one(templates[kind]...), depth)
}

func (g *generator) fill(template string, depth int) string {
	var out strings.Builder
	outer := len(g.variables)
	for {
		before, after, found := strings.Cut(template, "@")
		out.WriteString(before)
		if !found {
			break
		}
		end := strings.Index(after, "@")
		word := after[:end]
		template = after[end+1:]
		if name, kind, isVariable := strings.Cut(word, "="); isVariable {
			g.variables = append(g.variables, [2]string{name, kind})
			out.WriteString(name)
			continue
		}
		out.WriteString(g.expression(word, depth-1))
	}
	g.variables = g.variables[:outer]
	return out.String()
}

func (g *generator) object() map[string]any {
	all := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": g.one("a", "the-name"), "labels": map[string]any{"x": "y"}},
		"s":        g.one("", "a", "abc", "10.0.0.1", "grün", "v1.2.3", "a,b,c", "http://h:80/p?q=1", "1Gi", "100m"),
		"n":        g.Intn(7) - 2, "b": g.Intn(2) == 0, "d": []float64{0, 1.5, -2, 1e7}[g.Intn(4)],
		"l": g.texts(), "li": []int{3, 1, 2}[g.Intn(3):], "st": []string{"x", "y", "z"}[g.Intn(3):],
		"m":   map[string]any{"k": g.Intn(3), "a-b": 2},
		"o":   map[string]any{"name": g.one("n", "m"), "count": g.Intn(4)},
		"lm":  []any{map[string]any{"name": "p", "value": g.Intn(3)}, map[string]any{"name": "q"}}[g.Intn(2):],
		"ios": []any{5, "50%"}[g.Intn(2)], "a-b": g.one("x", "y"), "ts": "2024-02-29T10:20:30.5Z",
		"du": g.one("1h30m", "90s"), "da": "2023-12-31", "by": "aGVsbG8=", "nu": nil,
		"emb": map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "e"}},
		"any": map[string]any{"free": 1}, "namespace": "ns", "ip": "192.168.0.0/16", "en": "one",
	}
	for name := range all {
		if g.Intn(10) == 0 && name != "apiVersion" && name != "kind" && name != "metadata" {
			delete(all, name)
		}
	}
	return all
}

func (g *generator) texts() []string {
	return [][]string{{}, {"a"}, {"b", "a", "c"}, {"a", "a", "b"}}[g.Intn(4)]
}

func schemaWith(rule map[string]any) map[string]any {
	typed := func(name string, more ...any) map[string]any {
		schema := map[string]any{"type": name}
		for at := 0; at < len(more); at += 2 {
			schema[more[at].(string)] = more[at+1]
		}
		return schema
	}
	named := map[string]any{"name": typed("string", "maxLength", 20), "value": typed("integer")}
	properties := map[string]any{
		"s": typed("string", "maxLength", 64), "n": typed("integer"), "b": typed("boolean"), "d": typed("number"),
		"l":   typed("array", "maxItems", 10, "items", typed("string", "maxLength", 10)),
		"li":  typed("array", "maxItems", 10, "items", typed("integer")),
		"st":  typed("array", "maxItems", 10, "x-kubernetes-list-type", "set", "items", typed("string", "maxLength", 9)),
		"m":   typed("object", "maxProperties", 5, "additionalProperties", typed("integer")),
		"o":   typed("object", "properties", map[string]any{"name": typed("string", "maxLength", 9), "count": typed("integer")}),
		"lm":  typed("array", "maxItems", 5, "x-kubernetes-list-type", "map", "x-kubernetes-list-map-keys", []string{"name"}, "items", typed("object", "required", []string{"name"}, "properties", named)),
		"ios": map[string]any{"x-kubernetes-int-or-string": true, "maxLength": 9}, "a-b": typed("string", "maxLength", 9),
		"ts": typed("string", "format", "date-time"), "du": typed("string", "format", "duration"),
		"da": typed("string", "format", "date"), "by": typed("string", "format", "byte", "maxLength", 30),
		"nu":  typed("string", "nullable", true, "maxLength", 9),
		"emb": typed("object", "x-kubernetes-embedded-resource", true, "x-kubernetes-preserve-unknown-fields", true),
		"any": typed("object", "x-kubernetes-preserve-unknown-fields", true), "namespace": typed("string", "maxLength", 9),
		"ip": typed("string", "maxLength", 40), "en": typed("string", "enum", []string{"one", "two"}),
	}
	return map[string]any{"type": "object", "properties": properties, "x-kubernetes-validations": []any{rule}}
}
