package main

import (
	"bufio"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	aggregatoropenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// printOpenAPI prints the definitions of all types that a server publishes, and the parameters of its requests,
// one a line.
func printOpenAPI(out io.Writer) error {
	definitions, err := publishedDefinitions()
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		if err := writeLine(buffered, name+" ", definitions[name], true); err != nil {
			return err
		}
	}
	for _, options := range requestOptions {
		if err := writeLine(buffered, options.name+" ", parameters(options.goType), true); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// printDiscovery prints what a server says of its own types, without space.
func printDiscovery(out io.Writer) error {
	answers, err := discovered()
	if err != nil {
		return err
	}
	for _, answer := range answers {
		for _, group := range answer.Items {
			if err := writeLine(out, group.Name+" ", group.Versions, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func publishedDefinitions() (map[string]*spec.Schema, error) {
	roots, err := publishedTypes()
	if err != nil {
		return nil, err
	}
	namer := openapi.NewDefinitionNamer(legacyscheme.Scheme, apiextensions.Scheme, aggregator.Scheme)
	config := &common.OpenAPIV3Config{
		Info: &spec.Info{},
		GetDefinitions: func(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
			definitions := newTypeTableWith(ref).definitions
			maps.Copy(definitions, aggregatoropenapi.GetOpenAPIDefinitions(ref))
			return definitions
		},
		GetDefinitionName: namer.GetDefinitionName,
	}
	return builder3.BuildOpenAPIDefinitionsForResources(config, roots...)
}

// publishedTypes returns the names of the types that requests and answers hold.
func publishedTypes() ([]string, error) {
	names := []string{
		modelName(reflect.TypeFor[metav1.APIGroup]()), modelName(reflect.TypeFor[metav1.APIGroupList]()),
		modelName(reflect.TypeFor[metav1.APIResourceList]()), modelName(reflect.TypeFor[metav1.APIVersions]()),
		modelName(reflect.TypeFor[metav1.DeleteOptions]()), modelName(reflect.TypeFor[metav1.Patch]()),
		modelName(reflect.TypeFor[metav1.Status]()), modelName(reflect.TypeFor[metav1.WatchEvent]()),
		modelName(reflect.TypeFor[version.Info]()),
	}
	answers, err := discovered()
	if err != nil {
		return nil, err
	}
	for _, answer := range answers {
		for _, group := range answer.Items {
			for _, version := range group.Versions {
				of := schema.GroupVersion{Group: group.Name, Version: version.Version}
				names = appendTypes(names, of, version.Resources)
			}
		}
	}
	return names, nil
}

func appendTypes(names []string, of schema.GroupVersion, resources []apidiscovery.APIResourceDiscovery) []string {
	for _, served := range resources {
		gvk := of.WithKind(served.ResponseKind.Kind)
		names = appendType(names, gvk)
		if slices.Contains(served.Verbs, "list") {
			names = appendType(names, of.WithKind(gvk.Kind+"List"))
		}
		for _, sub := range served.Subresources {
			if slices.Equal(sub.Verbs, []string{"create"}) || sub.Subresource == "scale" {
				kind := sub.ResponseKind
				gvk := of.WithKind(kind.Kind)
				if kind.Version != "" {
					gvk = schema.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
				}
				names = appendType(names, gvk)
			}
		}
	}
	return names
}

func appendType(names []string, gvk schema.GroupVersionKind) []string {
	goType, known := schemeOf(gvk).KnownTypes(gvk.GroupVersion())[gvk.Kind]
	if !known || strings.HasSuffix(gvk.Kind, "Options") {
		return names
	}
	return append(names, modelName(goType))
}

// requestOptions are the types whose fields are parameters of requests.
var requestOptions = []struct {
	name   string
	goType reflect.Type
}{
	{"?get", reflect.TypeFor[metav1.GetOptions]()},
	{"?list", reflect.TypeFor[metav1.ListOptions]()},
	{"?create", reflect.TypeFor[metav1.CreateOptions]()},
	{"?update", reflect.TypeFor[metav1.UpdateOptions]()},
	{"?patch", reflect.TypeFor[metav1.PatchOptions]()},
	{"?delete", reflect.TypeFor[metav1.DeleteOptions]()},
	{"?attach", reflect.TypeFor[corev1.PodAttachOptions]()},
	{"?exec", reflect.TypeFor[corev1.PodExecOptions]()},
	{"?log", reflect.TypeFor[corev1.PodLogOptions]()},
	{"?portforward", reflect.TypeFor[corev1.PodPortForwardOptions]()},
	{"?proxy", reflect.TypeFor[corev1.PodProxyOptions]()},
	{"?serviceproxy", reflect.TypeFor[corev1.ServiceProxyOptions]()},
	{"?nodeproxy", reflect.TypeFor[corev1.NodeProxyOptions]()},
}

// parameter is one parameter of a request's query.
type parameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

func parameters(goType reflect.Type) []parameter {
	docs := reflect.New(goType).Interface().(interface{ SwaggerDoc() map[string]string }).SwaggerDoc()
	var found []parameter
	for _, member := range jsonMembers(goType) {
		simple := simpleType(member.goType)
		if simple != "" && member.name != "kind" && member.name != "apiVersion" {
			found = append(found, parameter{member.name, simple, docs[member.name]})
		}
	}
	slices.SortFunc(found, func(a, b parameter) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// simpleType returns the type of a parameter; empty for what no parameter can hold.
func simpleType(goType reflect.Type) string {
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice {
		goType = goType.Elem()
	}
	switch goType.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.String:
		return "string"
	}
	return ""
}
