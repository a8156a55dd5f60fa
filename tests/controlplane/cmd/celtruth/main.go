// Command celtruth prints what kube-apiserver makes of rules in CEL.
//
// It reads lines of {"schema": ..., "object": ..., "oldObject": ...} and prints for each a line with the errors
// of a definition with that schema, the errors of the rules for the object, and the cost of their evaluation.
// With -cases it prints such lines. With -declarations it prints the functions that rules may call.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

type question struct {
	Schema    json.RawMessage `json:"schema"`
	Object    json.RawMessage `json:"object"`
	OldObject json.RawMessage `json:"oldObject"`
}

type answer struct {
	// The errors of the definition, sorted.
	Definition []string `json:"definition"`
	// The errors of the object, sorted; absent when the definition is refused.
	Errors []string `json:"errors,omitempty"`
	// The cost of the rules; absent when the definition is refused.
	Cost int64 `json:"cost"`
}

var scheme = runtime.NewScheme()

func main() {
	declarations := flag.Bool("declarations", false, "print the functions that rules may call")
	cases := flag.Int("cases", 0, "print that many random questions instead of answers")
	seed := flag.Int64("seed", 1, "for other questions")
	flag.Parse()
	apiextensionsinstall.Install(scheme)
	if *declarations {
		printDeclarations()
		return
	}
	if *cases > 0 {
		printCases(*cases, *seed)
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var asked question
		must(json.Unmarshal(lines.Bytes(), &asked))
		line, err := json.Marshal(judge(asked))
		must(err)
		fmt.Fprintf(out, "%s\n", line)
	}
	must(lines.Err())
}

func judge(asked question) answer {
	var props apiextensionsv1.JSONSchemaProps
	must(json.Unmarshal(asked.Schema, &props))
	given := answer{Definition: definitionErrors(&props)}
	if len(given.Definition) > 0 {
		return given
	}
	var internal apiextensions.JSONSchemaProps
	must(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil))
	structural, err := schema.NewStructural(&internal)
	must(err)
	validator := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	object, old := decode(asked.Object), decode(asked.OldObject)
	var options []cel.Option
	if old != nil {
		correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: structural})
		options = append(options, cel.WithRatcheting(correlated))
	}
	budget := int64(celconfig.RuntimeCELCostBudget)
	errs, left := validator.Validate(context.Background(), nil, structural, object, old, budget, options...)
	given.Errors = sorted(errs)
	given.Cost = budget - left
	return given
}

func definitionErrors(props *apiextensionsv1.JSONSchemaProps) []string {
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
			}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
	scheme.Default(definition)
	var internal apiextensions.CustomResourceDefinition
	must(scheme.Convert(definition, &internal, nil))
	return sorted(validation.ValidateCustomResourceDefinition(context.Background(), &internal))
}

func decode(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	var value any
	must(utiljson.Unmarshal(raw, &value))
	return value
}

func sorted(errs field.ErrorList) []string {
	lines := make([]string, 0, len(errs))
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	sort.Strings(lines)
	return lines
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
