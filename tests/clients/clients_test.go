// Package clients runs client-go against the cluster of $KUBECONFIG. The assertions hold for every API server.
package clients

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	// The published suite that is run from this module needs it and what its tests import.
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/controller-runtime/pkg/client"
)

const patience = time.Minute

// world is a client with a namespace of its own.
type world struct {
	context.Context
	*kubernetes.Clientset
	test      *testing.T
	namespace string
}

func newWorld(t *testing.T) world {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	require(t, err)
	clientset, err := kubernetes.NewForConfig(config)
	require(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "clients-"}}
	namespace, err = clientset.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	require(t, err)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err = clientset.CoreV1().ServiceAccounts(namespace.Name).Create(ctx, account, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		require(t, err)
	}
	return world{test: t, Context: ctx, Clientset: clientset, namespace: namespace.Name}
}

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[V comparable](t *testing.T, found, expected V) {
	t.Helper()
	if found != expected {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

// next is what a channel brings, within the time of the test.
func next[V any](w world, channel <-chan V) V {
	w.test.Helper()
	select {
	case value := <-channel:
		return value
	case <-w.Done():
		w.test.Fatal("nothing came in time")
		panic("unreachable")
	}
}

func (w world) settings(value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: w.namespace},
		Data:       map[string]string{"key": value},
	}
}

func (w world) podSpec() corev1.PodSpec {
	mount := false
	return corev1.PodSpec{
		AutomountServiceAccountToken: &mount,
		Containers:                   []corev1.Container{{Name: "main", Image: "nginx"}},
	}
}

func TestAnInformerSeesWhatHappens(t *testing.T) {
	w := newWorld(t)
	factory := informers.NewSharedInformerFactoryWithOptions(w.Clientset, 0, informers.WithNamespace(w.namespace))
	events := make(chan string, 16)
	value := func(object any) string { return object.(*corev1.ConfigMap).Data["key"] }
	isOurs := func(object any) bool { return object.(*corev1.ConfigMap).Name == "settings" }
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: isOurs,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { events <- "added " + value(object) },
			UpdateFunc: func(_, object any) { events <- "changed to " + value(object) },
			DeleteFunc: func(object any) { events <- "deleted " + value(object) },
		},
	})
	require(t, err)
	factory.Start(w.Done())
	factory.WaitForCacheSync(w.Done())
	configMaps := w.CoreV1().ConfigMaps(w.namespace)
	created, err := configMaps.Create(w, w.settings("one"), metav1.CreateOptions{})
	require(t, err)
	equal(t, next(w, events), "added one")
	created.Data["key"] = "two"
	_, err = configMaps.Update(w, created, metav1.UpdateOptions{})
	require(t, err)
	equal(t, next(w, events), "changed to two")
	require(t, configMaps.Delete(w, "settings", metav1.DeleteOptions{}))
	equal(t, next(w, events), "deleted two")
}

func TestOneOfTwoCandidatesLeadsAndTheOtherFollowsIt(t *testing.T) {
	w := newWorld(t)
	leaders := make(chan string, 2)
	candidate := func(name string) context.CancelFunc {
		ctx, stop := context.WithCancel(w)
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, w.namespace, "leader", w.CoreV1(),
			w.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: name})
		require(t, err)
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: time.Second,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leaders <- name },
				OnStoppedLeading: func() {},
			},
		})
		require(t, err)
		go elector.Run(ctx)
		return stop
	}
	stop := candidate("first")
	equal(t, next(w, leaders), "first")
	defer candidate("second")()
	stop()
	equal(t, next(w, leaders), "second")
}

func TestEveryKindOfPatchChangesWhatItNames(t *testing.T) {
	w := newWorld(t)
	configMaps := w.CoreV1().ConfigMaps(w.namespace)
	_, err := configMaps.Create(w, w.settings("one"), metav1.CreateOptions{})
	require(t, err)
	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op":"replace","path":"/data/key","value":"%s"}]`,
		types.MergePatchType:          `{"data":{"key":"%s"}}`,
		types.StrategicMergePatchType: `{"data":{"key":"%s"}}`,
	} {
		patched, err := configMaps.Patch(w, "settings", kind, fmt.Appendf(nil, patch, kind), metav1.PatchOptions{})
		require(t, err)
		equal(t, patched.Data["key"], string(kind))
	}
}

func TestAnApplyConflictsWithAnotherManagerUnlessItForces(t *testing.T) {
	w := newWorld(t)
	configMaps := w.CoreV1().ConfigMaps(w.namespace)
	settings := func(value string) *coreapply.ConfigMapApplyConfiguration {
		return coreapply.ConfigMap("settings", w.namespace).WithData(map[string]string{"key": value})
	}
	_, err := configMaps.Apply(w, settings("one"), metav1.ApplyOptions{FieldManager: "a"})
	require(t, err)
	_, err = configMaps.Apply(w, settings("two"), metav1.ApplyOptions{FieldManager: "b"})
	equal(t, apierrors.IsConflict(err), true)
	applied, err := configMaps.Apply(w, settings("two"), metav1.ApplyOptions{FieldManager: "b", Force: true})
	require(t, err)
	equal(t, applied.Data["key"], "two")
	extracted, err := coreapply.ExtractConfigMap(applied, "b")
	require(t, err)
	equal(t, extracted.Data["key"], "two")
}

func TestAScaleChangesTheReplicasAlone(t *testing.T) {
	w := newWorld(t)
	deployments := w.AppsV1().Deployments(w.namespace)
	labels := map[string]string{"app": "a"}
	container := coreapply.Container().WithName("main").WithImage("nginx")
	deployment := appsapply.Deployment("web", w.namespace).WithSpec(appsapply.DeploymentSpec().
		WithReplicas(0).WithPaused(true).
		WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).
			WithSpec(coreapply.PodSpec().WithContainers(container))))
	_, err := deployments.Apply(w, deployment, metav1.ApplyOptions{FieldManager: "author"})
	require(t, err)
	scale, err := deployments.GetScale(w, "web", metav1.GetOptions{})
	require(t, err)
	equal(t, scale.Status.Selector, "app=a")
	scale.Spec.Replicas = 2
	scale.ResourceVersion = ""
	_, err = deployments.UpdateScale(w, "web", scale, metav1.UpdateOptions{})
	require(t, err)
	scale.ResourceVersion = "1"
	_, err = deployments.UpdateScale(w, "web", scale, metav1.UpdateOptions{})
	equal(t, apierrors.IsConflict(err), true)
	scaled, err := deployments.Get(w, "web", metav1.GetOptions{})
	require(t, err)
	equal(t, *scaled.Spec.Replicas, 2)
	extracted, err := appsapply.ExtractDeployment(scaled, "author")
	require(t, err)
	equal(t, extracted.Spec.Replicas == nil, true)
	equal(t, *extracted.Spec.Paused, true)
}

func TestAnEvictionDeletesAPodThatWaits(t *testing.T) {
	w := newWorld(t)
	pods := w.CoreV1().Pods(w.namespace)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Spec: w.podSpec()}
	_, err := pods.Create(w, pod, metav1.CreateOptions{})
	require(t, err)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "waits", Namespace: w.namespace}}
	require(t, pods.EvictV1(w, eviction))
	_, err = pods.Get(w, "waits", metav1.GetOptions{})
	equal(t, apierrors.IsNotFound(err), true)
	err = pods.EvictV1(w, eviction)
	equal(t, apierrors.IsNotFound(err), true)
}
