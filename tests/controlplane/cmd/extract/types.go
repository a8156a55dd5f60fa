package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kubernetesopenapi "k8s.io/kubernetes/pkg/generated/openapi"
)

// goStruct is one Go struct as JSON sees it.
type goStruct struct {
	Fields goFields `json:"fields"`
	// Atomic: server-side apply owns the struct as a whole.
	Atomic bool   `json:"atomic,omitempty"`
	Rules  []rule `json:"rules,omitempty"`

	goType reflect.Type
}

// goFields are printed in the order in which Go writes them, which readers of the data rely on.
type goFields map[string]goField

// MarshalJSON implements json.Marshaler.
func (f goFields) MarshalJSON() ([]byte, error) {
	names := slices.SortedFunc(maps.Keys(f), func(a, b string) int { return cmp.Compare(f[a].place, f[b].place) })
	text := []byte("{")
	for i, name := range names {
		field, err := json.Marshal(f[name])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(fmt.Appendf(text, "%q:", name), field...)
	}
	return append(text, '}'), nil
}

// goField is one field: its Go type in a notation of few words, and what OpenAPI adds.
type goField struct {
	// Type: string bool int32 int64 float64 bytes quantity intOrString time microTime any,
	// "#name" of a struct, "*X", "[]X", "map[]X".
	Type string `json:"t"`
	// Name of the scalar type where it has one of its own, as Go prints it: v1.Protocol.
	Name string `json:"n,omitempty"`
	// Omitted: not written when empty.
	Omitted       bool     `json:"o,omitempty"`
	Required      bool     `json:"r,omitempty"`
	Enum          []any    `json:"e,omitempty"`
	Default       any      `json:"d,omitempty"`
	ListType      string   `json:"l,omitempty"`
	ListMapKeys   []string `json:"k,omitempty"`
	Atomic        bool     `json:"a,omitempty"`
	PatchKey      string   `json:"pk,omitempty"`
	PatchStrategy string   `json:"ps,omitempty"`
	Format        string   `json:"f,omitempty"`
	// Wire: where protobuf has the field; see wire.go.
	Wire string `json:"w,omitempty"`

	// place counts the fields of the struct.
	place int
}

var specialTypes = map[reflect.Type]string{
	reflect.TypeFor[quantity.Quantity]():                            "quantity",
	reflect.TypeFor[intstr.IntOrString]():                           "intOrString",
	reflect.TypeFor[metav1.Time]():                                  "time",
	reflect.TypeFor[metav1.MicroTime]():                             "microTime",
	reflect.TypeFor[metav1.FieldsV1]():                              "any",
	reflect.TypeFor[runtime.RawExtension]():                         "any",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "any",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "any",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "any",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "any",
}

var scalarTypes = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "bool", reflect.Int32: "int32", reflect.Int64: "int64",
	reflect.Float64: "float64",
}

// typeTable holds every struct that was reached, by its short OpenAPI name.
type typeTable struct {
	byName      map[string]*goStruct
	definitions map[string]common.OpenAPIDefinition
}

func newTypeTable() *typeTable {
	return newTypeTableWith(func(path string) spec.Ref { return spec.MustCreateRef(path) })
}

func newTypeTableWith(ref common.ReferenceCallback) *typeTable {
	definitions := kubernetesopenapi.GetOpenAPIDefinitions(ref)
	for name, definition := range apiextensionsopenapi.GetOpenAPIDefinitions(ref) {
		definitions[name] = definition
	}
	return &typeTable{byName: map[string]*goStruct{}, definitions: definitions}
}

func (t *typeTable) sortedNames() []string {
	names := make([]string, 0, len(t.byName))
	for name := range t.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func modelName(goType reflect.Type) string {
	return util.GetCanonicalTypeName(reflect.New(goType).Interface())
}

// shortName is the same for the names since 1.35 and for those before, which are the paths of the packages.
func shortName(model string) string {
	model = strings.ReplaceAll(strings.Replace(model, "k8s.io/", "io.k8s.", 1), "/", ".")
	for _, prefix := range []string{"io.k8s.api.", "io.k8s.apimachinery.pkg.apis.", "io.k8s.apiextensions-apiserver.pkg.apis."} {
		if rest, ok := strings.CutPrefix(model, prefix); ok {
			return rest
		}
	}
	return model
}

// add registers a struct and all that it reaches, and returns its name.
func (t *typeTable) add(goType reflect.Type) (string, error) {
	model := modelName(goType)
	name := shortName(model)
	if _, known := t.byName[name]; known {
		return name, nil
	}
	definition, known := t.definitions[model]
	if !known {
		return "", fmt.Errorf("no OpenAPI definition of %s", model)
	}
	added := &goStruct{Fields: goFields{}, goType: goType}
	added.Atomic = definition.Schema.Extensions["x-kubernetes-map-type"] == "atomic"
	t.byName[name] = added
	for place, member := range jsonMembers(goType) {
		field, err := t.field(goType, member)
		if err != nil {
			return "", fmt.Errorf("%s.%s: %w", name, member.name, err)
		}
		field.describe(definition.Schema.Properties[member.name])
		field.place = place
		field.Required = slices.Contains(definition.Schema.Required, member.name)
		added.Fields[member.name] = field
	}
	return name, nil
}

func (t *typeTable) field(of reflect.Type, m member) (goField, error) {
	notation, err := t.notation(m.goType)
	wire := wireNotation(of, m)
	return goField{Type: notation, Name: scalarName(m.goType), Omitted: m.omitted(), Wire: wire}, err
}

func scalarName(goType reflect.Type) string {
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice || goType.Kind() == reflect.Map {
		goType = goType.Elem()
	}
	if _, isScalar := scalarTypes[goType.Kind()]; isScalar && goType.PkgPath() != "" {
		return goType.String()
	}
	return ""
}

func (t *typeTable) notation(goType reflect.Type) (string, error) {
	if special, ok := specialTypes[goType]; ok {
		return special, nil
	}
	if scalar, ok := scalarTypes[goType.Kind()]; ok {
		return scalar, nil
	}
	prefix := map[reflect.Kind]string{reflect.Pointer: "*", reflect.Slice: "[]", reflect.Map: "map[]"}[goType.Kind()]
	switch {
	case goType == reflect.TypeFor[[]byte]():
		return "bytes", nil
	case prefix != "":
		element, err := t.notation(goType.Elem())
		return prefix + element, err
	case goType == reflect.TypeFor[metav1.Duration]():
		return "string", nil
	case goType.Kind() == reflect.Struct:
		name, err := t.add(goType)
		return "#" + name, err
	}
	return "", fmt.Errorf("a %s has no notation", goType)
}

// describe adds what only OpenAPI knows.
func (f *goField) describe(property spec.Schema) {
	described := property
	if len(property.AllOf) == 1 && property.AllOf[0].Enum != nil {
		described.Enum = property.AllOf[0].Enum
	}
	f.Enum = described.Enum
	f.Format = described.Format
	if text := reflect.ValueOf(described.Default); text.Kind() == reflect.String && text.Len() > 0 {
		f.Default = text.String()
	}
	extensions := described.Extensions
	f.ListType, _ = extensions["x-kubernetes-list-type"].(string)
	f.Atomic = extensions["x-kubernetes-map-type"] == "atomic"
	f.PatchKey, _ = extensions["x-kubernetes-patch-merge-key"].(string)
	f.PatchStrategy, _ = extensions["x-kubernetes-patch-strategy"].(string)
	keys, _ := extensions["x-kubernetes-list-map-keys"].([]any)
	for _, key := range keys {
		f.ListMapKeys = append(f.ListMapKeys, key.(string))
	}
}

// member is one field of a struct under its JSON name; index leads through embedded structs.
type member struct {
	name    string
	goType  reflect.Type
	index   []int
	options []string
}

// omitted says whether encoding/json leaves an empty value out: omitempty has no say over structs.
func (m member) omitted() bool {
	if slices.Contains(m.options, "omitzero") {
		return true
	}
	return m.goType.Kind() != reflect.Struct && slices.Contains(m.options, "omitempty")
}

func jsonMembers(goType reflect.Type) []member {
	var members []member
	for i := range goType.NumField() {
		field := goType.Field(i)
		tag := strings.Split(field.Tag.Get("json"), ",")
		switch {
		case tag[0] == "-" || !field.IsExported():
		case field.Anonymous && tag[0] == "":
			for _, inner := range jsonMembers(field.Type) {
				inner.index = append([]int{i}, inner.index...)
				members = append(members, inner)
			}
		default:
			members = append(members, member{tag[0], field.Type, []int{i}, tag[1:]})
		}
	}
	return members
}
