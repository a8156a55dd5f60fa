package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/networking"
	"k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/apis/rbac"
	resourceapi "k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/storage"
)

// shownPair is a struct that messages of the server print, and its served form.
type shownPair struct{ internal, served reflect.Type }

func pair[I, S any]() shownPair { return shownPair{reflect.TypeFor[I](), reflect.TypeFor[S]()} }

// pairOf is the same for a part of a kind of resource.k8s.io, whose newest version depends on that of Kubernetes.
func pairOf[I any](kind string, path ...string) shownPair {
	newest := legacyscheme.Scheme.PrioritizedVersionsForGroup(resourceapi.GroupName)[0]
	served := legacyscheme.Scheme.KnownTypes(newest)[kind]
	for _, name := range path {
		field, _ := served.FieldByName(name)
		served = field.Type
		if served.Kind() == reflect.Pointer {
			served = served.Elem()
		}
	}
	return shownPair{reflect.TypeFor[I](), served}
}

var shownPairs = []shownPair{
	pair[core.PodTemplateSpec, corev1.PodTemplateSpec](),
	pair[core.PersistentVolumeClaim, corev1.PersistentVolumeClaim](),
	pair[core.PersistentVolumeClaimSpec, corev1.PersistentVolumeClaimSpec](),
	pair[core.PersistentVolumeSource, corev1.PersistentVolumeSource](),
	pair[core.EventSource, corev1.EventSource](),
	pair[core.EphemeralContainer, corev1.EphemeralContainer](),
	pair[core.ObjectReference, corev1.ObjectReference](),
	pair[core.NodeAddress, corev1.NodeAddress](),
	pair[core.HostIP, corev1.HostIP](),
	pair[core.PodIP, corev1.PodIP](),
	pair[core.Taint, corev1.Taint](),
	pair[apps.DeploymentStrategy, appsv1.DeploymentStrategy](),
	pair[apps.DaemonSetUpdateStrategy, appsv1.DaemonSetUpdateStrategy](),
	pair[apps.StatefulSetUpdateStrategy, appsv1.StatefulSetUpdateStrategy](),
	pair[batch.PodFailurePolicy, batchv1.PodFailurePolicy](),
	pair[batch.SuccessPolicy, batchv1.SuccessPolicy](),
	pair[batch.UncountedTerminatedPods, batchv1.UncountedTerminatedPods](),
	pair[networking.ParentReference, networkingv1.ParentReference](),
	pair[networking.ServiceCIDRSpec, networkingv1.ServiceCIDRSpec](),
	pair[policy.PodDisruptionBudgetSpec, policyv1.PodDisruptionBudgetSpec](),
	pair[rbac.RoleRef, rbacv1.RoleRef](),
	pairOf[resourceapi.ResourceClaimSpec]("ResourceClaim", "Spec"),
	pairOf[resourceapi.ResourceClaimTemplateSpec]("ResourceClaimTemplate", "Spec"),
	pairOf[resourceapi.AllocationResult]("ResourceClaim", "Status", "Allocation"),
	pair[storage.CSINodeDriver, storagev1.CSINodeDriver](),
	pair[storage.VolumeAttachmentSpec, storagev1.VolumeAttachmentSpec](),
}

// printInternal prints how Go writes the structs behind the served ones: for each its fields in order, each as
// shown name, served name, type, and whether an empty one is left out.
func printInternal(out io.Writer) error {
	shown := map[string][]string{}
	for _, root := range shownPairs {
		if err := addShown(shown, root.internal, root.served); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", " ")
	return encoder.Encode(shown)
}

func shownName(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	return parts[len(parts)-1] + "." + goType.Name()
}

func addShown(shown map[string][]string, internal, served reflect.Type) error {
	name := shownName(internal)
	if _, known := shown[name]; known {
		return nil
	}
	shown[name] = nil
	servedNames := map[string]member{}
	for _, m := range jsonMembers(served) {
		servedNames[served.FieldByIndex(m.index).Name] = m
	}
	fields := []string{}
	for _, field := range flatFields(internal) {
		names, omitted := field.Name, ""
		m, isServed := servedNames[field.Name]
		jsonName := lowerFirst(field.Name)
		if isServed {
			jsonName = m.name
		}
		if tag, tagged := field.Tag.Lookup("json"); tagged {
			parts := strings.Split(tag, ",")
			names = parts[0]
			if slices.Contains(parts[1:], "omitempty") {
				omitted = " ?"
			}
		}
		other := field.Type
		if isServed {
			other = m.goType
		}
		notation, err := shownNotation(shown, field.Type, other)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, field.Name, err)
		}
		fields = append(fields, names+" "+jsonName+" "+notation+omitted)
	}
	shown[name] = fields
	return nil
}

// flatFields are the fields of a struct as encoding/json orders them: those of embedded structs in their place.
func flatFields(goType reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for i := range goType.NumField() {
		field := goType.Field(i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct && field.Tag.Get("json") == "" {
			fields = append(fields, flatFields(field.Type)...)
			continue
		}
		fields = append(fields, field)
	}
	return fields
}

func lowerFirst(name string) string {
	runes := []rune(name)
	runes[0] = unicode.ToLower(runes[0])
	return string(runes)
}

var shownSpecial = map[reflect.Type]string{
	reflect.TypeFor[apiresource.Quantity](): "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "number",
	reflect.TypeFor[metav1.Time]():          "null",
	reflect.TypeFor[metav1.MicroTime]():     "null",
	reflect.TypeFor[metav1.Duration]():      "string",
	reflect.TypeFor[metav1.FieldsV1]():      "null",
}

func shownNotation(shown map[string][]string, internal, served reflect.Type) (string, error) {
	if special, ok := shownSpecial[internal]; ok {
		return special, nil
	}
	switch internal.Kind() {
	case reflect.String:
		return "string", nil
	case reflect.Bool:
		return "bool", nil
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Float64:
		return "number", nil
	case reflect.Pointer, reflect.Slice, reflect.Map:
		prefix := map[reflect.Kind]string{reflect.Pointer: "*", reflect.Slice: "[]", reflect.Map: "{}"}[internal.Kind()]
		if served.Kind() != internal.Kind() {
			served = reflect.PointerTo(served)
		}
		element, err := shownNotation(shown, internal.Elem(), served.Elem())
		return prefix + element, err
	case reflect.Struct:
		if strings.HasSuffix(internal.PkgPath(), "pkg/runtime") {
			return "null", nil
		}
		for served.Kind() == reflect.Pointer {
			served = served.Elem()
		}
		return shownName(internal), addShown(shown, internal, served)
	}
	return "", fmt.Errorf("a %s has no notation", internal)
}
