package main

import (
	"encoding/json"
	"io"

	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// printBootstrap prints the objects of flow control that a server creates, one a line.
func printBootstrap(out io.Writer) error {
	for _, level := range append(bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations...) {
		if err := printCreated(out, "PriorityLevelConfiguration", level.Name, level.Spec); err != nil {
			return err
		}
	}
	for _, schema := range append(bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas...) {
		if err := printCreated(out, "FlowSchema", schema.Name, schema.Spec); err != nil {
			return err
		}
	}
	return nil
}

func printCreated(out io.Writer, kind, name string, spec any) error {
	return json.NewEncoder(out).Encode(map[string]any{
		"apiVersion": "flowcontrol.apiserver.k8s.io/v1",
		"kind":       kind,
		"metadata": map[string]any{
			"name":        name,
			"annotations": map[string]string{"apf.kubernetes.io/autoupdate-spec": "true"},
		},
		"spec": spec,
	})
}
