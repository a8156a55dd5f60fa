package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// wireCase is one object in both forms.
type wireCase struct {
	Object   runtime.Object `json:"object"`
	Protobuf []byte         `json:"protobuf"`
}

// printCases prints every kind empty, filled, and in a list.
func printCases(out io.Writer) error {
	resources, err := servedResources()
	if err != nil {
		return err
	}
	filler := filler{seen: map[reflect.Type]bool{}}
	for i := range resources {
		gvk := resources[i].gvk()
		if err := printObjects(out, &filler, gvk, resources[i].goType); err != nil {
			return err
		}
		if err := printList(out, gvk, resources[i].goType); err != nil {
			return err
		}
	}
	for _, m := range messages {
		gvk := schema.GroupVersionKind{Group: m.Group, Version: m.Version, Kind: m.Kind}
		if err := printObjects(out, &filler, gvk, m.goType); err != nil {
			return err
		}
	}
	return nil
}

func printObjects(out io.Writer, filler *filler, gvk schema.GroupVersionKind, goType reflect.Type) error {
	empty, filled := reflect.New(goType), reflect.New(goType)
	delete(filler.seen, goType)
	filler.fill(filled.Elem())
	for _, object := range []reflect.Value{empty, filled} {
		if err := printCase(out, object.Interface().(runtime.Object), gvk); err != nil {
			return err
		}
	}
	return nil
}

func printList(out io.Writer, gvk schema.GroupVersionKind, goType reflect.Type) error {
	gvk.Kind += "List"
	list, err := schemeOf(gvk).New(gvk)
	if err != nil {
		return err
	}
	value := reflect.ValueOf(list).Elem()
	value.FieldByName("ListMeta").FieldByName("ResourceVersion").SetString("7")
	items := value.FieldByName("Items")
	items.Set(reflect.Append(items, reflect.New(goType).Elem()))
	return printCase(out, list, gvk)
}

func printCase(out io.Writer, object runtime.Object, gvk schema.GroupVersionKind) error {
	object.GetObjectKind().SetGroupVersionKind(gvk)
	var encoded bytes.Buffer
	if err := protobuf.NewSerializer(nil, nil).Encode(object, &encoded); err != nil {
		return fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	return json.NewEncoder(out).Encode(wireCase{object, encoded.Bytes()})
}

// filler sets every field of a struct, and of each struct below it that it has not filled before.
type filler struct {
	seen  map[reflect.Type]bool
	count int
}

func (f *filler) fill(value reflect.Value) {
	f.count++
	if special, ok := f.special(value.Type()); ok {
		value.Set(reflect.ValueOf(special).Convert(value.Type()))
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(fmt.Sprintf("s%d", f.count))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		value.SetInt(int64(f.count) * int64(1-f.count%3)) // negative ones too
	case reflect.Float64:
		value.SetFloat(float64(f.count) / 2)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem())
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		f.fill(value.Index(0))
		f.fill(value.Index(1))
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for _, key := range []string{"b", "a"} {
			element := reflect.New(value.Type().Elem()).Elem()
			f.fill(element)
			value.SetMapIndex(reflect.ValueOf(key).Convert(value.Type().Key()), element)
		}
	case reflect.Struct:
		f.fillStruct(value)
	}
}

func (f *filler) fillStruct(value reflect.Value) {
	if f.seen[value.Type()] {
		return
	}
	f.seen[value.Type()] = true
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if field.Tag.Get("protobuf") != "" && field.IsExported() {
			f.fill(value.Field(i))
		}
	}
}

func (f *filler) special(goType reflect.Type) (any, bool) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 789012000, time.UTC)
	schema := &apiextensionsv1.JSONSchemaProps{Type: "string"}
	switch goType {
	case reflect.TypeFor[[]byte]():
		return []byte(fmt.Sprintf("bytes %d", f.count)), true
	case reflect.TypeFor[quantity.Quantity]():
		return quantity.MustParse(fmt.Sprintf("%dm", f.count)), true
	case reflect.TypeFor[intstr.IntOrString]():
		if f.count%2 == 0 {
			return intstr.FromString("7%"), true
		}
		return intstr.FromInt32(int32(f.count)), true
	case reflect.TypeFor[metav1.Time]():
		return metav1.NewTime(at.Truncate(time.Second)), true
	case reflect.TypeFor[metav1.MicroTime]():
		return metav1.NewMicroTime(at), true
	case reflect.TypeFor[metav1.FieldsV1]():
		return metav1.FieldsV1{Raw: []byte(`{"f:a":{}}`)}, true
	case reflect.TypeFor[runtime.RawExtension]():
		return runtime.RawExtension{Raw: []byte(`{"a":[1,"b"]}`)}, true
	case reflect.TypeFor[apiextensionsv1.JSON]():
		return apiextensionsv1.JSON{Raw: []byte(`{"a":null}`)}, true
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():
		if f.count%2 == 0 {
			return apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}, true
		}
		return apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: schema}, true
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():
		return apiextensionsv1.JSONSchemaPropsOrArray{Schema: schema}, true
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray]():
		return apiextensionsv1.JSONSchemaPropsOrStringArray{Property: []string{"a", "b"}}, true
	}
	return nil, false
}
