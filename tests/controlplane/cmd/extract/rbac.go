package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// printRoles prints the roles and bindings that a server makes when it starts, in the order in which it
// makes them, one a line.
func printRoles(out io.Writer) error {
	objects := bootstrapObjects()
	buffered := bufio.NewWriter(out)
	fmt.Fprint(buffered, "[\n")
	for i, object := range objects {
		kinds, _, err := legacyscheme.Scheme.ObjectKinds(object)
		if err != nil {
			return err
		}
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
		legacyscheme.Scheme.Default(object)
		if err := writeLine(buffered, "", object, i == len(objects)-1); err != nil {
			return err
		}
	}
	fmt.Fprint(buffered, "]\n")
	return buffered.Flush()
}

func bootstrapObjects() []runtime.Object {
	var objects []runtime.Object
	for _, role := range append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...) {
		objects = append(objects, &role)
	}
	bindings := append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...)
	for _, binding := range bindings {
		objects = append(objects, &binding)
	}
	objects = appendNamespaced(objects, bootstrappolicy.NamespaceRoles(), func(it *rbacv1.Role) runtime.Object { return it })
	return appendNamespaced(objects, bootstrappolicy.NamespaceRoleBindings(),
		func(it *rbacv1.RoleBinding) runtime.Object { return it })
}

func appendNamespaced[T any](all []runtime.Object, from map[string][]T, as func(*T) runtime.Object) []runtime.Object {
	for _, namespace := range slices.Sorted(maps.Keys(from)) {
		for i := range from[namespace] {
			all = append(all, as(&from[namespace][i]))
		}
	}
	return all
}
