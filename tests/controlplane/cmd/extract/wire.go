package main

import (
	"fmt"
	"reflect"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// message is a kind that travels as protobuf without being a kept object.
type message struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Type    string `json:"type"`

	goType reflect.Type
}

var messages = []message{
	messageOf[metav1.Status]("", "v1"),
	messageOf[metav1.DeleteOptions]("meta.k8s.io", "v1"),
	messageOf[metav1.PartialObjectMetadata]("meta.k8s.io", "v1"),
	messageOf[metav1.PartialObjectMetadataList]("meta.k8s.io", "v1"),
	messageOf[metav1.APIVersions]("", "v1"),
	messageOf[metav1.APIGroup]("", "v1"),
	messageOf[metav1.APIGroupList]("", "v1"),
	messageOf[metav1.APIResourceList]("", "v1"),
	messageOf[corev1.Binding]("", "v1"),
	messageOf[policyv1.Eviction]("policy", "v1"),
	messageOf[autoscalingv1.Scale]("autoscaling", "v1"),
	messageOf[authenticationv1.TokenRequest]("authentication.k8s.io", "v1"),
	messageOf[authenticationv1.TokenReview]("authentication.k8s.io", "v1"),
	messageOf[authenticationv1.SelfSubjectReview]("authentication.k8s.io", "v1"),
	messageOf[authorizationv1.SubjectAccessReview]("authorization.k8s.io", "v1"),
	messageOf[authorizationv1.SelfSubjectAccessReview]("authorization.k8s.io", "v1"),
	messageOf[authorizationv1.LocalSubjectAccessReview]("authorization.k8s.io", "v1"),
	messageOf[authorizationv1.SelfSubjectRulesReview]("authorization.k8s.io", "v1"),
}

func messageOf[T any](group, version string) message {
	goType := reflect.TypeFor[T]()
	return message{Group: group, Version: version, Kind: goType.Name(), goType: goType}
}

// addMessages registers the structs of the messages. They have no defaults.
func addMessages(types *typeTable) error {
	for i := range messages {
		name, err := types.add(messages[i].goType)
		if err != nil {
			return fmt.Errorf("%s: %w", messages[i].Kind, err)
		}
		messages[i].Type = name
	}
	return nil
}

// wireNotation says where protobuf has a field: its number, after those of the embedded structs
// that hold it and with a word where the form does not follow from the type: "3", "2.1", "8:raw".
// It is empty for fields that protobuf does not have.
func wireNotation(goType reflect.Type, m member) string {
	var numbers []string
	isRepeated := false
	for _, index := range m.index {
		field := goType.Field(index)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 3 {
			return ""
		}
		numbers = append(numbers, tag[1])
		isRepeated = tag[2] == "rep"
		goType = field.Type
	}
	notation := strings.Join(numbers, ".")
	if goType.Kind() == reflect.Slice && isRepeated {
		goType = goType.Elem()
	}
	if form := wireForm(goType); form != "" {
		notation += ":" + form
	}
	return notation
}

var wireForms = map[reflect.Type]string{
	reflect.TypeFor[metav1.Duration]():                              "duration",
	reflect.TypeFor[metav1.FieldsV1]():                              "raw",
	reflect.TypeFor[runtime.RawExtension]():                         "raw",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "raw",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "orBool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "orArray",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "orStrings",
}

// wireForm names what is special about a type, or about what it points to or holds.
func wireForm(goType reflect.Type) string {
	if form, ok := wireForms[goType]; ok {
		return form
	}
	switch goType.Kind() {
	case reflect.Slice:
		if goType.PkgPath() != "" {
			return "items" // a list type with a name is a message with a list
		}
		return wireForm(goType.Elem())
	case reflect.Pointer, reflect.Map:
		return wireForm(goType.Elem())
	}
	return ""
}
