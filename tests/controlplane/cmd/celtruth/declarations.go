package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/google/cel-go/common/types"

	"k8s.io/apiserver/pkg/cel/environment"
)

// printDeclarations prints a line per overload: function, overload, style, parameters, result.
func printDeclarations() {
	set := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	functions := set.NewExpressionsEnv().Functions()
	names := make([]string, 0, len(functions))
	for name := range functions {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if functions[name].IsDeclarationDisabled() {
			continue
		}
		for _, overload := range functions[name].OverloadDecls() {
			style := "global"
			if overload.IsMemberFunction() {
				style = "member"
			}
			parameters := make([]string, 0, len(overload.ArgTypes()))
			for _, parameter := range overload.ArgTypes() {
				parameters = append(parameters, printed(parameter))
			}
			list := strings.Join(parameters, " ")
			fmt.Printf("%s\t%s\t%s\t%s\t%s\n", name, overload.ID(), style, list, printed(overload.ResultType()))
		}
	}
}

func printed(t *types.Type) string {
	name := t.DeclaredTypeName()
	switch t.Kind() {
	case types.DurationKind:
		name = "duration"
	case types.TimestampKind:
		name = "timestamp"
	case types.TypeParamKind:
		return "$" + t.TypeName()
	}
	if len(t.Parameters()) == 0 {
		return name
	}
	parameters := make([]string, 0, len(t.Parameters()))
	for _, parameter := range t.Parameters() {
		parameters = append(parameters, printed(parameter))
	}
	return name + "(" + strings.Join(parameters, ",") + ")"
}
