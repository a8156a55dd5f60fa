package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var builder = &scheme.Builder{GroupVersion: schema.GroupVersion{Group: "example.dev", Version: "v1"}}

func init() {
	builder.Register(&Greeting{}, &GreetingList{})
}

// ANCHOR: types
type GreetingSpec struct {
	Name string `json:"name"`
}

type GreetingStatus struct {
	Greeted int `json:"greeted,omitempty"`
}

type Greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GreetingSpec   `json:"spec"`
	Status            GreetingStatus `json:"status,omitempty"`
}

type GreetingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Greeting `json:"items"`
}

// ANCHOR_END: types

// What controller-gen generates.

func (in *Greeting) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (in *GreetingList) DeepCopyObject() runtime.Object {
	out := &GreetingList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for index := range in.Items {
		out.Items = append(out.Items, *in.Items[index].DeepCopyObject().(*Greeting))
	}
	return out
}
