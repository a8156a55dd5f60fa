"""`Greeting` with Kopf: handlers of events write the ConfigMap and the status."""

import kopf
from kubernetes import client, config

GREETINGS = ("example.dev", "v1", "greetings")


@kopf.on.startup()
def connect(**_):
    config.load_config()


def apply(greeting):
    """Makes the ConfigMap as it should be, and returns how many there are."""
    name, namespace = greeting["metadata"]["name"], greeting["metadata"]["namespace"]
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"greeting": name}},
        "data": {"hello": greeting["spec"]["name"]},
    }
    kopf.append_owner_reference(config_map, greeting)
    core = client.CoreV1Api()
    core.patch_namespaced_config_map(
        name,
        namespace,
        config_map,
        field_manager="greeter",
        force=True,
        _content_type="application/apply-patch+yaml",
    )
    ours = f"greeting={name}"
    return len(core.list_namespaced_config_map(namespace, label_selector=ours).items)


@kopf.on.resume(*GREETINGS)
@kopf.on.create(*GREETINGS)
@kopf.on.update(*GREETINGS, field="spec")
def greet(body, patch, **_):
    patch.status["greeted"] = apply(body)


@kopf.index(*GREETINGS)
def greetings(namespace, name, body, **_):
    return {(namespace, name): body}


@kopf.on.event("v1", "configmaps", labels={"greeting": kopf.PRESENT})
def repair(namespace, labels, greetings: kopf.Index, **_):
    for greeting in greetings.get((namespace, labels["greeting"]), []):
        apply(greeting)
