//! Pods and templates of pods as a whole.

use super::{
    super::{
        config,
        field::{Errors, Field},
        selector,
    },
    annotation, container,
    spec::{self, Of},
};

/// A new pod.
pub(in super::super) fn create(pod: &Field, errors: &mut Errors) {
    metadata_and_spec(pod, errors);
    let spec = pod.child("spec");
    if !spec.child("ephemeralContainers").is_empty() {
        errors.push(spec.child("ephemeralContainers").forbidden("cannot be set on create"));
    }
    if !spec.string("nodeName").is_empty() && !spec.child("schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.push(spec.child("nodeName").forbidden(detail));
    }
    annotation::matches_fields(pod, errors);
}

/// The template of a pod; the real server leaves `metadata` out of the paths of labels.
pub(in super::super) fn template(template: &Field, errors: &mut Errors) {
    let metadata = template.child("metadata");
    let labels = metadata.child("labels").named(template.at().child("labels"));
    selector::labels(&labels, errors);
    let annotations = metadata.child("annotations").named(template.at().child("annotations"));
    config::annotations(&annotations, errors);
    annotation::of_pod(&annotations, &template.child("spec"), errors);
    spec::spec(&template.child("spec"), &Of::Template, errors);
    annotation::matches_fields(template, errors);
    let ephemeral = template.child("spec").child("ephemeralContainers");
    if !ephemeral.is_empty() {
        errors.push(ephemeral.forbidden("ephemeral containers not allowed in pod template"));
    }
}

/// What holds for a pod whenever it is written.
pub(in super::super) fn metadata_and_spec(pod: &Field, errors: &mut Errors) {
    let (metadata, spec) = (pod.child("metadata"), pod.child("spec"));
    annotation::of_pod(&metadata.child("annotations"), &spec, errors);
    let name = metadata.string("name");
    spec::spec(&spec, &Of::Pod(name.text()), errors);
    if spec.string("serviceAccountName").is_empty() {
        for volume in spec.child("volumes").items() {
            for source in volume.child("projected").child("sources").items() {
                if let Some(token) = source.given("serviceAccountToken") {
                    let detail = "must not be specified when serviceAccountName is not set";
                    errors.push(token.forbidden(detail));
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for container in spec.child(list).items() {
            container::image_is_trimmed(&container, errors);
        }
    }
}
