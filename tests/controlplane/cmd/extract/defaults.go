package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rule says: set the field at Path to Value unless it is set.
type rule struct {
	Path  string `json:"p"`
	Value any    `json:"v"`
	// When: only if one of these fields is as said.
	When []condition `json:"when,omitempty"`
	// Unless: not if one of these fields is as said.
	Unless []condition `json:"unless,omitempty"`
}

// condition holds when the field is one of Values, or is set at all when there are none.
type condition struct {
	Path   string   `json:"p"`
	Values []string `json:"in,omitempty"`
}

// occurrence is a struct at one path of one kind, and what defaulting makes of an object that
// holds nothing but it.
type occurrence struct {
	resource  int
	path      path
	goType    reflect.Type
	base      facts
	perturbed map[condition1]facts
}

// condition1 is one way to fill one field: with a value, or with anything where value is empty.
type condition1 struct{ path, value string }

// facts are the values, by path relative to the struct, that defaulting added or changed.
type facts map[string]string

// addDefaults finds the rules of all types. It fails when they do not explain all that was seen.
func addDefaults(types *typeTable, resources []resource) error {
	var all []occurrence
	byType := map[string][]int{}
	for i := range resources {
		for _, place := range places(resources[i].goType) {
			found, err := observe(types, resources, i, place)
			if err != nil {
				return fmt.Errorf("%s at %q: %w", resources[i].Kind, place.path, err)
			}
			name := types.nameOf(found.goType)
			byType[name] = append(byType[name], len(all))
			all = append(all, found)
		}
	}
	for name, indices := range byType {
		types.byName[name].Rules = commonRules(all, indices)
	}
	for i := range all {
		if err := checkExplained(types, resources, &all[i]); err != nil {
			return err
		}
	}
	types.dropInherited()
	types.dropConditional()
	types.dropTimes()
	return nil
}

// dropTimes drops the rules that set the time of the extraction: the time of a request is not data.
func (t *typeTable) dropTimes() {
	for _, holder := range t.byName {
		holder.Rules = slices.DeleteFunc(holder.Rules, func(r rule) bool {
			encoded, err := json.Marshal(r.Value)
			if err != nil {
				return false
			}
			_, err = time.Parse(`"`+time.RFC3339+`"`, string(encoded))
			return err == nil
		})
	}
}

// dropConditional drops the rules that a struct seems to have because the struct that holds it was
// empty: an update strategy has no parameters when another kind of strategy is chosen.
func (t *typeTable) dropConditional() {
	for _, holder := range t.byName {
		for field, held := range holder.Fields {
			inner, ok := t.byName[strings.TrimPrefix(held.Type, "*#")]
			if !ok {
				continue
			}
			inner.Rules = slices.DeleteFunc(inner.Rules, func(r rule) bool {
				return slices.ContainsFunc(holder.Rules, func(other rule) bool {
					return other.Path == join(field, r.Path) && len(other.Unless) > 0 && !holder.excludesDefault(other)
				})
			})
		}
	}
}

// excludesDefault: a rule that does not even hold for the value that its condition's field has by
// default says nothing about the struct below.
func (s *goStruct) excludesDefault(r rule) bool {
	return slices.ContainsFunc(s.Rules, func(known rule) bool {
		return slices.ContainsFunc(r.Unless, func(c condition) bool {
			value, _ := known.Value.(json.RawMessage)
			return c.Path == known.Path && slices.Contains(c.Values, strings.Trim(string(value), `"`))
		})
	})
}

// dropInherited drops the rules that a struct has only because a struct that it holds has them.
func (t *typeTable) dropInherited() {
	inherited := map[string][]rule{}
	for name, holder := range t.byName {
		for field, held := range holder.Fields {
			inner, ok := strings.CutPrefix(held.Type, "#")
			if !ok {
				continue
			}
			for _, r := range t.byName[inner].Rules {
				inherited[name] = append(inherited[name], r.below(field))
			}
		}
	}
	for name, holder := range t.byName {
		holder.Rules = slices.DeleteFunc(holder.Rules, func(r rule) bool {
			return slices.ContainsFunc(inherited[name], func(other rule) bool { return reflect.DeepEqual(r, other) })
		})
	}
}

func (r rule) below(field string) rule {
	r.Path = join(field, r.Path)
	r.When, r.Unless = below(field, r.When), below(field, r.Unless)
	return r
}

func below(field string, conditions []condition) []condition {
	var moved []condition
	for _, c := range conditions {
		moved = append(moved, condition{join(field, c.Path), c.Values})
	}
	return moved
}

func (t *typeTable) nameOf(goType reflect.Type) string { return shortName(modelName(goType)) }

// observe defaults an object that holds just the struct at place, then again with each of its
// fields filled in every interesting way.
func observe(types *typeTable, resources []resource, index int, at place) (occurrence, error) {
	found := occurrence{resource: index, path: at.path, goType: at.goType, perturbed: map[condition1]facts{}}
	var err error
	if found.base, err = diff(&resources[index], at, nil); err != nil {
		return found, err
	}
	for _, change := range changes(types, at.goType) {
		if found.perturbed[change.condition1], err = diff(&resources[index], at, &change); err != nil {
			return found, err
		}
	}
	return found, nil
}

// diff returns what defaulting adds to the struct at one place.
func diff(of *resource, at place, with *change) (facts, error) {
	object := reflect.New(of.goType)
	target := at.path.allocate(object.Elem())
	if with != nil {
		with.fill(target)
	}
	before, err := tree(target)
	if err != nil {
		return nil, err
	}
	schemeOf(of.gvk()).Default(object.Interface().(runtime.Object))
	after, err := tree(at.path.allocate(object.Elem()))
	if err != nil {
		return nil, err
	}
	found := facts{}
	return found, compare("", before, after, found)
}

func tree(value reflect.Value) (any, error) {
	text, err := json.Marshal(value.Addr().Interface())
	if err != nil {
		return nil, err
	}
	var parsed any
	return parsed, json.Unmarshal(text, &parsed)
}

// compare notes what after has and before has not; lists are taken as a whole.
func compare(at string, before, after any, found facts) error {
	fields, isObject := after.(map[string]any)
	old, wasObject := before.(map[string]any)
	if isObject && (wasObject || (before == nil && len(fields) > 0)) {
		for name, value := range fields {
			if err := compare(join(at, name), old[name], value, found); err != nil {
				return err
			}
		}
		return nil
	}
	if reflect.DeepEqual(before, after) || isInside(before, after) {
		return nil
	}
	text, err := json.Marshal(after)
	found[at] = string(text)
	return err
}

// isInside: a list that stays as long as it was is described where its elements are.
func isInside(before, after any) bool {
	old, wasList := before.([]any)
	list, isList := after.([]any)
	return wasList && isList && len(old) == len(list)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// commonRules keeps what holds wherever a type occurs.
func commonRules(all []occurrence, indices []int) []rule {
	first := &all[indices[0]]
	var rules []rule
	for _, at := range slices.Sorted(maps.Keys(first.base)) {
		value := first.base[at]
		if everywhere(all, indices, func(o *occurrence) bool { return o.base[at] == value }) {
			unless := conditions(first, func(c condition1, _ facts) bool {
				return !strings.HasPrefix(at+".", c.path+".") && everywhere(all, indices, func(o *occurrence) bool {
					return o.perturbed[c][at] == ""
				})
			})
			rules = append(rules, rule{Path: at, Value: json.RawMessage(value), Unless: unless})
		}
	}
	return append(rules, gainedRules(all, indices)...)
}

// gainedRules are those that hold only when some field is filled.
func gainedRules(all []occurrence, indices []int) []rule {
	first := &all[indices[0]]
	gained := map[[2]string]bool{}
	for c, filled := range first.perturbed {
		for at, value := range filled {
			if isGain(first, c, at, value) {
				gained[[2]string{at, value}] = true
			}
		}
	}
	var rules []rule
	for _, gain := range slices.SortedFunc(maps.Keys(gained), func(a, b [2]string) int {
		return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1])
	}) {
		at, value := gain[0], gain[1]
		when := conditions(first, func(c condition1, _ facts) bool {
			return everywhere(all, indices, func(o *occurrence) bool {
				return o.perturbed[c][at] == value && isGain(o, c, at, value)
			})
		})
		if len(when) > 0 {
			rules = append(rules, rule{Path: at, Value: json.RawMessage(value), When: when})
		}
	}
	return rules
}

// isGain: below the filled field itself its own type speaks, and a copy of the filling is no rule.
func isGain(o *occurrence, c condition1, at, value string) bool {
	return o.base[at] != value && value != echo && !strings.HasPrefix(at+".", c.path+".")
}

func everywhere(all []occurrence, indices []int, holds func(*occurrence) bool) bool {
	return !slices.ContainsFunc(indices, func(i int) bool { return !holds(&all[i]) })
}

func conditions(of *occurrence, holds func(condition1, facts) bool) []condition {
	values := map[string][]string{}
	for c, filled := range of.perturbed {
		if holds(c, filled) {
			values[c.path] = append(values[c.path], c.value)
		}
	}
	var found []condition
	for _, at := range slices.Sorted(maps.Keys(values)) {
		slices.Sort(values[at])
		if slices.Equal(values[at], []string{""}) {
			values[at] = nil
		}
		found = append(found, condition{at, values[at]})
	}
	return found
}

// checkExplained: a default belongs to a rule of the struct's own type or of one above it.
func checkExplained(types *typeTable, resources []resource, o *occurrence) error {
	for _, at := range slices.Sorted(maps.Keys(o.base)) {
		if !isCovered(types, resources, o, at) {
			return fmt.Errorf("%s: no rule explains %s.%s = %s", resources[o.resource].Kind, o.path, at, o.base[at])
		}
	}
	return nil
}

func isCovered(types *typeTable, resources []resource, o *occurrence, at string) bool {
	relative := at
	for depth := len(o.path); depth >= 0; depth-- {
		if depth < len(o.path) {
			relative = join(o.path[depth].name, relative)
			if o.path[depth].element != "" {
				return false // rules do not reach into lists
			}
		}
		owner := o.path[:depth].typeIn(resources[o.resource].goType)
		for _, known := range types.byName[types.nameOf(owner)].Rules {
			if known.Path == relative && string(known.Value.(json.RawMessage)) == o.base[at] {
				return true
			}
		}
	}
	return false
}

// defaultLines defaults each object of a stream as the scheme does.
func defaultLines(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var meta struct{ APIVersion, Kind string }
		if err := json.Unmarshal(lines.Bytes(), &meta); err != nil {
			return err
		}
		gvk := schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)
		object, err := schemeOf(gvk).New(gvk)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(lines.Bytes(), object); err != nil {
			log.Printf("%s: %v", meta.Kind, err)
			continue
		}
		schemeOf(gvk).Default(object)
		if err := json.NewEncoder(out).Encode(object); err != nil {
			return err
		}
	}
	return lines.Err()
}
