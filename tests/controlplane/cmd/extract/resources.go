package main

import (
	"embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane" // registers all groups with the legacy scheme
)

// The answers of a server of each version to /api and /apis in aggregated form, one after the other.
//
//go:embed discovery
var discovery embed.FS

// discovered are the answers of a server of the version that this program is built from.
func discovered() ([]apidiscovery.APIGroupDiscoveryList, error) {
	minor := kubernetesVersion()
	minor = strings.TrimPrefix(minor[:strings.LastIndex(minor, ".")], "v")
	text, err := discovery.ReadFile("discovery/" + minor + ".json")
	if err != nil {
		return nil, err
	}
	var answers []apidiscovery.APIGroupDiscoveryList
	return answers, json.Unmarshal(text, &answers)
}

// The groups whose objects the embedded server keeps; the others are reviews, or belong to parts
// of a cluster that it does not have.
var keptGroups = []string{
	"", "apps", "autoscaling", "batch", "policy", "networking.k8s.io", "rbac.authorization.k8s.io",
	"coordination.k8s.io", "events.k8s.io", "discovery.k8s.io", "storage.k8s.io",
	"apiextensions.k8s.io", "scheduling.k8s.io", "node.k8s.io", "certificates.k8s.io",
	"admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io",
	"apiregistration.k8s.io", "storagemigration.k8s.io",
}

// resource is one line of the resource table.
type resource struct {
	Group        string   `json:"group,omitempty"`
	Version      string   `json:"version"`
	Kind         string   `json:"kind"`
	Plural       string   `json:"plural"`
	Singular     string   `json:"singular"`
	ShortNames   []string `json:"shortNames,omitempty"`
	Categories   []string `json:"categories,omitempty"`
	Namespaced   bool     `json:"namespaced,omitempty"`
	Verbs        []string `json:"verbs"`
	Subresources []string `json:"subresources,omitempty"`
	Type         string   `json:"type"`

	goType reflect.Type
}

func (r *resource) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// schemeOf returns the scheme that knows a kind: definitions of resources and of API servers have their own.
func schemeOf(gvk schema.GroupVersionKind) *runtime.Scheme {
	if legacyscheme.Scheme.Recognizes(gvk) {
		return legacyscheme.Scheme
	}
	if aggregator.Scheme.Recognizes(gvk) {
		return aggregator.Scheme
	}
	return apiextensions.Scheme
}

func servedResources() ([]resource, error) {
	answers, err := discovered()
	if err != nil {
		return nil, err
	}
	var found []resource
	for _, answer := range answers {
		for _, group := range answer.Items {
			if !slices.Contains(keptGroups, group.Name) {
				continue
			}
			for _, version := range group.Versions {
				for _, served := range version.Resources {
					found = appendResource(found, group.Name, version.Version, served)
				}
			}
		}
	}
	return found, nil
}

func appendResource(all []resource, group, version string, served apidiscovery.APIResourceDiscovery) []resource {
	if !slices.Contains(served.Verbs, "watch") {
		return all // not an object that is kept: bindings, component statuses
	}
	one := resource{
		Group: group, Version: version, Kind: served.ResponseKind.Kind,
		Plural: served.Resource, Singular: served.SingularResource,
		ShortNames: served.ShortNames, Categories: served.Categories,
		Namespaced: served.Scope == apidiscovery.ScopeNamespace, Verbs: served.Verbs,
	}
	for _, sub := range served.Subresources {
		one.Subresources = append(one.Subresources, sub.Subresource)
	}
	known := schemeOf(one.gvk()).KnownTypes(one.gvk().GroupVersion())
	one.goType = known[one.Kind]
	return append(all, one)
}
