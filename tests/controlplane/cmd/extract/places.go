package main

import (
	"reflect"
	"slices"
	"strings"
)

// step leads from a struct to one of its fields, and into its first element.
type step struct {
	name  string
	index []int
	// element is "[]" where the field is a list.
	element string
}

// path leads from an object to a struct inside it.
type path []step

// place is a struct type at a path.
type place struct {
	path   path
	goType reflect.Type
}

func (p path) String() string {
	var parts []string
	for _, s := range p {
		parts = append(parts, s.name+s.element)
	}
	return strings.Join(parts, ".")
}

// places lists every struct that an object can hold, each type once along any path.
func places(goType reflect.Type) []place {
	return append([]place{{nil, goType}}, placesBelow(goType, nil, []reflect.Type{goType})...)
}

func placesBelow(goType reflect.Type, at path, above []reflect.Type) []place {
	var found []place
	for _, m := range jsonMembers(goType) {
		inner, element := structIn(m.goType)
		if inner == nil || slices.Contains(above, inner) {
			continue
		}
		next := append(slices.Clone(at), step{m.name, m.index, element})
		found = append(found, place{next, inner})
		found = append(found, placesBelow(inner, next, append(slices.Clone(above), inner))...)
	}
	return found
}

// structIn returns the struct that a field holds: itself, behind a pointer, or as list element.
func structIn(goType reflect.Type) (reflect.Type, string) {
	element := ""
	for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice {
		if goType.Kind() == reflect.Slice {
			element = "[]"
		}
		goType = goType.Elem()
	}
	if _, special := specialTypes[goType]; special || goType.Kind() != reflect.Struct {
		return nil, ""
	}
	return goType, element
}

// typeIn returns the struct type that the path leads to.
func (p path) typeIn(goType reflect.Type) reflect.Type {
	for _, s := range p {
		goType, _ = structIn(goType.FieldByIndex(s.index).Type)
	}
	return goType
}

// allocate makes everything along the path exist, and returns the struct at its end.
func (p path) allocate(value reflect.Value) reflect.Value {
	for _, s := range p {
		value = value.FieldByIndex(s.index)
		for value.Kind() == reflect.Pointer || value.Kind() == reflect.Slice {
			value = exist(value)
		}
	}
	return value
}

func exist(value reflect.Value) reflect.Value {
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			value.Set(reflect.New(value.Type().Elem()))
		}
		return value.Elem()
	}
	if value.Len() == 0 {
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
	}
	return value.Index(0)
}

// change fills one field of a struct.
type change struct {
	condition1
	indices [][]int
	filling reflect.Value
}

func (c *change) fill(target reflect.Value) {
	for _, index := range c.indices {
		target = target.FieldByIndex(index)
	}
	target.Set(c.filling)
}

// changes lists the ways to fill the fields of a struct and of those that it holds by value.
func changes(types *typeTable, goType reflect.Type) []change {
	var found []change
	known := types.byName[types.nameOf(goType)]
	for _, m := range jsonMembers(goType) {
		inner, element := structIn(m.goType)
		if inner != nil && element == "" && m.goType.Kind() == reflect.Struct {
			for _, below := range changes(types, inner) {
				below.path = join(m.name, below.path)
				below.indices = append([][]int{m.index}, below.indices...)
				found = append(found, below)
			}
			continue
		}
		if m.name == "metadata" {
			continue
		}
		for text, filling := range fillings(m.goType, known.Fields[m.name].Enum) {
			found = append(found, change{condition1{m.name, text}, [][]int{m.index}, filling})
		}
	}
	return found
}

// fillings returns values that are not the empty one: each of an enum, else any.
func fillings(goType reflect.Type, enum []any) map[string]reflect.Value {
	values := map[string]reflect.Value{}
	for _, allowed := range enum {
		text, _ := allowed.(string)
		if text == "" {
			continue
		}
		values[text] = filled(goType, reflect.ValueOf(text))
	}
	if len(values) > 0 {
		return values
	}
	switch goType.Kind() {
	case reflect.Pointer, reflect.Slice:
		value := reflect.New(goType).Elem()
		inner := exist(value)
		if any := anyScalar(inner.Type()); any.IsValid() {
			inner.Set(any)
		}
		values[""] = value
	case reflect.Map:
		values[""] = reflect.MakeMap(goType)
	default:
		if any := anyScalar(goType); any.IsValid() {
			values[""] = any
		}
	}
	return values
}

func filled(goType reflect.Type, text reflect.Value) reflect.Value {
	value := reflect.New(goType).Elem()
	inner := value
	for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
		inner = exist(inner)
	}
	inner.Set(text.Convert(inner.Type()))
	return value
}

// The number that stands for any, and what a copy of it looks like.
const (
	anyNumber = 7
	echo      = "7"
)

// anyScalar has no string: what depends on free text (image tags, names) is not told by one value.
func anyScalar(goType reflect.Type) reflect.Value {
	switch goType.Kind() {
	case reflect.Bool:
		return reflect.ValueOf(true).Convert(goType)
	case reflect.Int32, reflect.Int64:
		return reflect.ValueOf(anyNumber).Convert(goType)
	}
	return reflect.Value{}
}
