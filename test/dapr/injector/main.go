// What Dapr makes of the Kubernetes example: its component type reads the component, its sidecar injector patches the pod. Prints the pod as JSON.
// Built within a copy of Dapr's own module, whose replace lines another module would not have.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	components "github.com/dapr/dapr/pkg/apis/components/v1alpha1"
	"github.com/dapr/dapr/pkg/injector/patcher"
)

func read(file string, into any) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
		os.Exit(1)
	}
}

func main() {
	read(os.Args[1], &components.Component{})
	var deployment appsv1.Deployment
	read(os.Args[2], &deployment)

	pod := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	config := patcher.NewSidecarConfig(pod)
	config.SidecarImage = "daprd"
	config.SetFromPodAnnotations()
	patch, err := config.GetPatch()
	if err == nil {
		pod, err = patcher.PatchPod(pod, patch)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(pod.Spec)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
