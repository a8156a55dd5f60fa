// Package main answers the webhook of the benchmark with controller-runtime, as its users write one.
//
// It prints `running` when it listens, answers each line of its input with the number of its calls, and ends with its input.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type nothing struct{ calls atomic.Int64 }

func (n *nothing) ValidateCreate(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	n.calls.Add(1)
	return nil, nil
}

func (n *nothing) ValidateUpdate(context.Context, *corev1.ConfigMap, *corev1.ConfigMap) (admission.Warnings, error) {
	n.calls.Add(1)
	return nil, nil
}

func (n *nothing) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	n.calls.Add(1)
	return nil, nil
}

func main() {
	port := flag.Int("port", 9443, "of the webhooks")
	certificates := flag.String("certificates", "", "the folder with tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())

	scheme := runtime.NewScheme()
	must(corev1.AddToScheme(scheme))
	serving := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates})
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:        scheme,
		Metrics:       server.Options{BindAddress: "0"},
		WebhookServer: serving,
	})
	must(err)
	validator := &nothing{}
	must(ctrl.NewWebhookManagedBy(manager, &corev1.ConfigMap{}).WithValidator(validator).Complete())
	go commands(validator, net.JoinHostPort("127.0.0.1", strconv.Itoa(*port)))
	must(manager.Start(ctrl.SetupSignalHandler()))
}

func commands(validator *nothing, address string) {
	for {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			must(connection.Close())
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("running")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(validator.calls.Load())
	}
	os.Exit(0)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
