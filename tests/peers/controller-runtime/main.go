// Package main is `Greeting` with controller-runtime: Reconcile writes the ConfigMap and the status.
package main

import (
	"context"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// ANCHOR: operator
type GreetingReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

func (r *GreetingReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var greeting Greeting
	if err := r.Get(ctx, request.NamespacedName, &greeting); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !greeting.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	var configMap corev1.ConfigMap
	configMap.Name, configMap.Namespace = greeting.Name, greeting.Namespace
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, &configMap, func() error {
		configMap.Labels = map[string]string{"greeting": greeting.Name}
		configMap.Data = map[string]string{"hello": greeting.Spec.Name}
		return controllerutil.SetControllerReference(&greeting, &configMap, r.Scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}

	var ours corev1.ConfigMapList
	labels := client.MatchingLabels{"greeting": greeting.Name}
	if err := r.List(ctx, &ours, client.InNamespace(greeting.Namespace), labels); err != nil {
		return ctrl.Result{}, err
	}
	if greeting.Status.Greeted == len(ours.Items) {
		return ctrl.Result{}, nil
	}
	greeting.Status.Greeted = len(ours.Items)
	return ctrl.Result{}, r.Status().Update(ctx, &greeting)
}

func main() {
	scheme := runtime.NewScheme()
	must(corev1.AddToScheme(scheme))
	must(builder.AddToScheme(scheme))
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
	})
	must(err)
	must(ctrl.NewControllerManagedBy(manager).
		For(&Greeting{}).
		Owns(&corev1.ConfigMap{}).
		Complete(&GreetingReconciler{manager.GetClient(), scheme}))
	must(manager.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// ANCHOR_END: operator
