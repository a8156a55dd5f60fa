//! What the first error of each mistake says, from the likely mistakes to the rare ones: a message that is lost stays
//! lost when the `.stderr` is written again.

/// Our sentences, which are in the attributes of traits.
pub(crate) const OURS: &[(&str, &str)] = &[
    (
        "request_by_value",
        "a handler that blocks takes the request by reference: `fn(request: &SyncRequest<P>)",
    ),
    (
        "async_fn_with_a_reference",
        "one that awaits is `async fn(SyncRequest<P>) -> Result<SyncResponse<S>>`, with the request by value",
    ),
    ("response_without_a_result", "write `-> Result<SyncResponse<S>>`"),
    ("async_response_without_a_result", "write `-> Result<SyncResponse<S>>`"),
    ("spec_instead_of_its_kind", "name the type that `#[derive(CustomResource)]` makes"),
    (
        "spec_as_the_type_of_parents",
        "write `SyncRequest<P>` with the type `P` that `#[derive(CustomResource)]` makes",
    ),
    ("spec_as_a_child_type", "name the type that `#[derive(CustomResource)]` makes"),
    ("children_of_a_spec", "name the type that `#[derive(CustomResource)]` makes"),
    ("parent_without_custom_resource", "name the type that `#[derive(CustomResource)]` makes"),
    ("custom_for_a_type_of_kubernetes", "write `OperatorConfig::of::<P>(..)`"),
    (
        "error_of_another_type",
        "the error of this `Result` is `anyhow::Error`, which `?` makes of any other",
    ),
    (
        "async_error_of_another_type",
        "the error of this `Result` is `anyhow::Error`, which `?` makes of any other",
    ),
    (
        "closure_without_types",
        "a closure says its types: `|request: &SyncRequest<P>| -> Result<SyncResponse> { .. }`",
    ),
    (
        "parent_instead_of_a_request",
        "a handler that blocks is `fn(&SyncRequest<P>) -> Result<SyncResponse<S>>`",
    ),
    (
        "reconciler_of_kube_rs",
        "one that awaits is `async fn(SyncRequest<P>) -> Result<SyncResponse<S>>`",
    ),
    ("action_of_kube_rs", "a handler returns `SyncResponse<S>`"),
    ("result_of_nothing", "a handler returns `SyncResponse<S>`"),
    ("struct_that_implements_nothing", "a struct implements `Handler` or `AsyncHandler`"),
    (
        "handler_by_reference",
        "a struct implements `Handler` or `AsyncHandler`, and is passed by value",
    ),
    (
        "handler_in_an_arc",
        "a struct implements `Handler` or `AsyncHandler`, and is passed by value",
    ),
    ("response_of_a_handler_is_a_result", "a handler returns `SyncResponse<S>`"),
    ("arguments_in_the_wrong_order", "`operetta::operator::OperatorConfig` is not a handler"),
    ("pair_in_the_wrong_order", "a pair is `(sync, on_error)`"),
    (
        "on_error_with_an_error_by_value",
        "`fn on_error(request: &SyncRequest<P>, error: &Error) -> ErrorResponse`",
    ),
    (
        "on_error_without_a_request",
        "`fn on_error(request: &SyncRequest<P>, error: &Error) -> ErrorResponse`",
    ),
    (
        "on_error_that_returns_a_sync_response",
        "`fn on_error(request: &SyncRequest<P>, error: &Error) -> ErrorResponse`",
    ),
    (
        "async_on_error_of_a_blocking_handler",
        "`fn on_error(request: &SyncRequest<P>, error: &Error) -> ErrorResponse`",
    ),
    (
        "async_on_error_with_references",
        "`async fn on_error(request: SyncRequest<P>, error: Arc<Error>) -> ErrorResponse`",
    ),
    ("with_finalizer_of_a_struct", "`with_finalizer(sync, finalize)` takes two functions"),
    (
        "finalize_that_returns_a_sync_response",
        "`fn finalize(request: &SyncRequest<P>) -> Result<FinalizeResponse>`",
    ),
    (
        "async_finalize_of_a_blocking_handler",
        "`fn finalize(request: &SyncRequest<P>) -> Result<FinalizeResponse>`",
    ),
    (
        "decorator_response_of_an_owner",
        "make the configuration with `OperatorConfig::decorates::<P>(..)`",
    ),
    (
        "decorator_option_of_an_owner",
        "make the configuration with `OperatorConfig::decorates::<P>(..)`",
    ),
];

/// What the compiler says by itself, or by an attribute of another crate. No attribute of ours can add to it.
pub(crate) const OWN_WORDS: &[(&str, &str)] = &[
    ("new_response_with_a_typed_status", "expected `SyncResponse<Size>`, found `SyncResponse`"),
    (
        "status_without_serialize",
        "consider adding `#[derive(serde::Serialize)]` to your `Size` type",
    ),
    (
        "child_without_serialize",
        "consider adding `#[derive(serde::Serialize)]` to your `Page` type",
    ),
    (
        "spec_without_deserialize",
        "consider adding `#[derive(serde::Deserialize)]` to your `GreetingSpec` type",
    ),
    ("spec_without_json_schema", "the trait `JsonSchema` is not implemented for `GreetingSpec`"),
    ("spec_without_clone", "consider annotating `GreetingSpec` with `#[derive(Clone)]`"),
    ("handler_that_is_called", "this function takes 1 argument but 0 arguments were supplied"),
    ("closure_that_borrows", "use the `move` keyword"),
    ("closure_with_an_rc", "cannot be sent between threads safely"),
    ("lock_held_across_an_await", "future is not `Send` as this value is used across an await"),
    ("handler_without_its_types", "implement the missing item: `type Parent = /* Type */;`"),
    ("async_fn_of_a_blocking_handler", "expected `Result<SyncResponse, Error>`, found future"),
    ("name_of_a_child_as_a_string", "consider borrowing here"),
    ("child_type_without_options", "argument #1 of type `ChildConfig` is missing"),
    ("child_type_without_its_type", "consider specifying the generic argument"),
    (
        "related_that_returns_names",
        "expected `related` to return `Related`, but it returns `Vec<String>`",
    ),
    ("testkit_without_its_feature", "the item is gated behind the `testkit` feature"),
    ("command_line_without_its_feature", "the item is gated behind the `cli` feature"),
];
