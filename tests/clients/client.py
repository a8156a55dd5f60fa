"""Runs the client of Python against the cluster of $KUBECONFIG. The assertions hold for every API server."""

import threading
import unittest
import uuid

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

PATIENCE = 60
GROUP = "python.example.com"


def definition(plural, kind):
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {"size": {"type": "integer", "minimum": 1}},
            },
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural[:-1], "kind": kind},
            "versions": [version],
        },
    }


def deployment(name):
    labels = {"app": name}
    container = {"name": "main", "image": "example.com/main:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


class Clients(unittest.TestCase):
    """Each test has a namespace of its own."""

    @classmethod
    def setUpClass(cls):
        config.load_kube_config()
        cls.core = client.CoreV1Api()
        cls.apps = client.AppsV1Api()
        cls.custom = client.CustomObjectsApi()

    def setUp(self):
        metadata = {"generateName": "python-"}
        self.namespace = self.core.create_namespace({"metadata": metadata}).metadata.name
        self.addCleanup(self.core.delete_namespace, self.namespace)

    def refused(self, code, reason, call, *arguments, **options):
        with self.assertRaises(ApiException) as refusal:
            call(*arguments, **options)
        self.assertEqual(code, refusal.exception.status, refusal.exception.body)
        self.assertIn(f'"reason":"{reason}"', refusal.exception.body.replace(": ", ":"))

    def config_map(self, name, **labels):
        body = {"metadata": {"name": name, "labels": labels}, "data": {"a": "1"}}
        return self.core.create_namespaced_config_map(self.namespace, body)

    def test_objects_are_created_read_replaced_and_deleted(self):
        created = self.config_map("one")
        self.assertEqual({"a": "1"}, created.data)
        self.refused(409, "AlreadyExists", self.config_map, "one")
        created.data = {"a": "2"}
        replaced = self.core.replace_namespaced_config_map("one", self.namespace, created)
        self.assertNotEqual(created.metadata.resource_version, replaced.metadata.resource_version)
        replace = self.core.replace_namespaced_config_map
        self.refused(409, "Conflict", replace, "one", self.namespace, created)
        self.core.delete_namespaced_config_map("one", self.namespace)
        read = self.core.read_namespaced_config_map
        self.refused(404, "NotFound", read, "one", self.namespace)

    def test_lists_are_selected_and_paged(self):
        for number in range(5):
            self.config_map(f"map-{number}", parity=str(number % 2))
        read = self.core.list_namespaced_config_map
        odd = read(self.namespace, label_selector="parity=1").items
        self.assertEqual(["map-1", "map-3"], [item.metadata.name for item in odd])
        one = read(self.namespace, field_selector="metadata.name=map-4").items
        self.assertEqual(["map-4"], [item.metadata.name for item in one])
        names, token = [], None
        while True:
            page = read(self.namespace, label_selector="parity", limit=2, _continue=token)
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual([f"map-{number}" for number in range(5)], names)

    def test_a_watch_shows_every_change_in_order(self):
        start = self.core.list_namespaced_config_map(self.namespace).metadata.resource_version

        def change():
            self.config_map("seen")
            self.core.patch_namespaced_config_map("seen", self.namespace, {"data": {"a": "2"}})
            self.core.delete_namespaced_config_map("seen", self.namespace)

        changing = threading.Thread(target=change)
        changing.start()
        events, stream = [], watch.Watch()
        listing = self.core.list_namespaced_config_map
        options = {"resource_version": start, "timeout_seconds": PATIENCE}
        for event in stream.stream(listing, self.namespace, **options):
            if event["object"].metadata.name != "seen":
                continue
            events.append((event["type"], event["object"].data["a"]))
            if event["type"] == "DELETED":
                stream.stop()
        changing.join()
        self.assertEqual([("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")], events)

    def test_a_deployment_is_patched_and_scaled(self):
        self.apps.create_namespaced_deployment(self.namespace, deployment("web"))
        container = {"name": "main", "env": [{"name": "A", "value": "1"}]}
        patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
        patched = self.apps.patch_namespaced_deployment("web", self.namespace, patch)
        main = patched.spec.template.spec.containers[0]
        self.assertEqual(("example.com/main:1", "A"), (main.image, main.env[0].name))
        scale = {"spec": {"replicas": 3}}
        self.apps.patch_namespaced_deployment_scale("web", self.namespace, scale)
        read = self.apps.read_namespaced_deployment_scale("web", self.namespace)
        self.assertEqual(3, read.spec.replicas)
        invalid = deployment("invalid")
        invalid["spec"]["selector"] = {"matchLabels": {"app": "other"}}
        create = self.apps.create_namespaced_deployment
        self.refused(422, "Invalid", create, self.namespace, invalid)

    def test_an_apply_conflicts_with_another_manager_unless_it_is_forced(self):
        maps = dynamic.DynamicClient(client.ApiClient()).resources.get(
            api_version="v1", kind="ConfigMap"
        )

        def apply(manager, value, force=False):
            body = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "applied"},
                "data": {"a": value},
            }
            options = {"namespace": self.namespace, "field_manager": manager}
            return maps.server_side_apply(body=body, force_conflicts=force, **options)

        apply("one", "1")
        with self.assertRaises(dynamic.exceptions.ConflictError):
            apply("two", "2")
        self.assertEqual("2", apply("two", "2", force=True).data.a)

    def test_a_custom_resource_is_validated_and_has_a_status(self):
        plural = f"sizes{uuid.uuid4().hex[:8]}s"
        definitions = client.ApiextensionsV1Api()
        name = definitions.create_custom_resource_definition(
            definition(plural, plural.title())
        ).metadata.name
        self.addCleanup(definitions.delete_custom_resource_definition, name)
        self.until_established(definitions, name)
        where = (GROUP, "v1", self.namespace, plural)
        body = {
            "apiVersion": f"{GROUP}/v1",
            "kind": plural.title(),
            "metadata": {"name": "a"},
            "spec": {"size": 0},
        }
        create = self.custom.create_namespaced_custom_object
        self.refused(422, "Invalid", create, *where, body)
        body["spec"]["size"] = 2
        created = create(*where, body)
        created["status"] = {"seen": True}
        self.custom.replace_namespaced_custom_object_status(*where, "a", created)
        read = self.custom.get_namespaced_custom_object(*where, "a")
        self.assertEqual(({"seen": True}, 1), (read["status"], read["metadata"]["generation"]))

    def until_established(self, definitions, name):
        stream = watch.Watch()
        options = {"field_selector": f"metadata.name={name}", "timeout_seconds": PATIENCE}
        for event in stream.stream(definitions.list_custom_resource_definition, **options):
            conditions = event["object"].status.conditions or []
            if any((it.type, it.status) == ("Established", "True") for it in conditions):
                stream.stop()
                return
        self.fail(f"{name} is not established")


if __name__ == "__main__":
    unittest.main()
