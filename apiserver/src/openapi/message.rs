//! The messages of `OpenAPI` documents: which field has which number.
//!
//! A line for each message: `key=number` for a text, a flag, a whole number or a list of texts, `key=number#` for
//! other numbers, `key=number?` for any value, `key=number:Message`, `key=number!Message` where a list is one
//! message. The key `*` stands for all other keys, `~` for extensions; without a key the value itself is meant.

use serde_json::Value;

/// The messages of a version.
#[derive(Debug)]
pub(super) struct Messages(Vec<Message>);

/// One message.
#[derive(Debug)]
pub(super) struct Message {
    name: &'static str,
    pub(super) fields: Vec<Field>,
}

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) number: u32,
    pub(super) form: Form,
}

/// How a value is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// As text, flag or whole number.
    Leaf,
    /// As a number with a fraction.
    Double,
    /// As YAML.
    Any,
    /// As a message, or each element of a list as one.
    Message(&'static str),
    /// As one message, even if it is a list.
    Whole(&'static str),
}

/// What a value is written as, where a message is one of several.
#[derive(Debug)]
pub(super) enum Choice<'a> {
    /// The message itself.
    This(&'a Message),
    /// Another message in one field of it.
    Inner(u32, &'static str),
    /// A flag in one field of it.
    Boolean(u32),
}

/// The messages of version 2.
pub(super) const VERSION_2: &str = "\
Document swagger=1 info=2:Info paths=8:Paths definitions=9:Definitions parameters=10:ParameterDefinitions \
 security=12:SecurityRequirement securityDefinitions=13:SecurityDefinitions ~=16?
Info title=1 version=2 description=3 ~=7?
Paths ~=1? *=2:PathItem
Definitions *=1:Schema
ParameterDefinitions *=1:Parameter
SecurityDefinitions *=1:Security
SecurityRequirement *=1!StringArray
StringArray =1
ApiKey type=1 name=2 in=3 description=4 ~=5?
PathItem $ref=1 get=2:Operation put=3:Operation post=4:Operation delete=5:Operation options=6:Operation \
 head=7:Operation patch=8:Operation parameters=9:ParametersItem ~=10?
Operation tags=1 summary=2 description=3 operationId=5 produces=6 consumes=7 parameters=8:ParametersItem \
 responses=9:Responses schemes=10 deprecated=11 ~=13?
JsonReference $ref=1 description=2
BodyParameter description=1 name=2 in=3 required=4 schema=5:Schema ~=6?
QueryParameter required=1 in=2 description=3 name=4 type=6 format=7 uniqueItems=20 ~=23?
PathParameter required=1 in=2 description=3 name=4 type=5 format=6 uniqueItems=20 ~=22?
Responses ~=2? *=1:ResponseValue
Response description=1 schema=2:SchemaItem ~=5?
Schema $ref=1 format=2 title=3 description=4 default=5? multipleOf=6# maximum=7# exclusiveMaximum=8 minimum=9# \
 exclusiveMinimum=10 maxLength=11 minLength=12 pattern=13 maxItems=14 minItems=15 uniqueItems=16 maxProperties=17 \
 minProperties=18 required=19 enum=20? additionalProperties=21:AdditionalPropertiesItem type=22!TypeItem \
 items=23!ItemsItem allOf=24:Schema properties=25:Properties example=30? ~=31?
TypeItem =1
ItemsItem =1:Schema
Properties *=1:Schema";

/// The messages of version 3.
pub(super) const VERSION_3: &str = "\
Document openapi=1 info=2:Info paths=4:Paths components=5:Components ~=9?
Info title=1 description=2 version=6 ~=7?
Components schemas=1:Schemas securitySchemes=7:SecuritySchemes ~=10?
Schemas *=1:SchemaOrReference
SecuritySchemes *=1:SecuritySchemeOrReference
SecurityScheme type=1 description=2 name=3 in=4 ~=9?
Paths ~=2? *=1:PathItem
PathItem get=4:Operation put=5:Operation post=6:Operation delete=7:Operation options=8:Operation head=9:Operation \
 patch=10:Operation parameters=13:ParameterOrReference ~=14?
Operation tags=1 summary=2 description=3 operationId=5 parameters=6:ParameterOrReference \
 requestBody=7:RequestBodyOrReference responses=8:Responses deprecated=10 ~=13?
Parameter name=1 in=2 description=3 required=4 schema=10:SchemaOrReference ~=14?
RequestBody description=1 content=2:MediaTypes required=3 ~=4?
MediaTypes *=1:MediaType
MediaType schema=1:SchemaOrReference ~=5?
Responses default=1:ResponseOrReference ~=3? *=2:ResponseOrReference
Response description=1 content=3:MediaTypes ~=5?
Reference $ref=1 description=3
Schema nullable=1 example=7? deprecated=8 title=9 multipleOf=10# maximum=11# exclusiveMaximum=12 minimum=13# \
 exclusiveMinimum=14 maxLength=15 minLength=16 pattern=17 maxItems=18 minItems=19 uniqueItems=20 maxProperties=21 \
 minProperties=22 required=23 enum=24? type=25 allOf=26:SchemaOrReference oneOf=27:SchemaOrReference \
 anyOf=28:SchemaOrReference not=29:Schema items=30!ItemsItem properties=31:Properties \
 additionalProperties=32:AdditionalPropertiesItem default=33:Default description=34 format=35 ~=36?
ItemsItem =1:SchemaOrReference
Properties *=1:SchemaOrReference
Number =1#
Text =3";

impl Messages {
    /// The messages of a table.
    pub(super) fn new(table: &'static str) -> Self {
        Self(table.lines().filter_map(Message::parse).collect())
    }

    /// What a value of a message is written as.
    pub(super) fn choice(&self, name: &str, value: &Value) -> Choice<'_> {
        static NOTHING: Message = Message { name: "", fields: Vec::new() };
        let is_version_2 = self.get("BodyParameter").is_some();
        let is_reference = value.get("$ref").is_some();
        let either = |inner| {
            if is_reference { Choice::Inner(2, "Reference") } else { Choice::Inner(1, inner) }
        };
        match name {
            "ParametersItem" if is_reference => Choice::Inner(2, "JsonReference"),
            "ParametersItem" => Choice::Inner(1, "Parameter"),
            // The name of a choice in version 2, and of a message in version 3.
            "Parameter" if is_version_2 => match value["in"].as_str() {
                Some("body") => Choice::Inner(1, "BodyParameter"),
                _ => Choice::Inner(2, "NonBodyParameter"),
            },
            "NonBodyParameter" if value["in"] == "path" => Choice::Inner(4, "PathParameter"),
            "NonBodyParameter" => Choice::Inner(3, "QueryParameter"),
            "ResponseValue" => Choice::Inner(1, "Response"),
            "SchemaItem" => Choice::Inner(1, "Schema"),
            "Security" => Choice::Inner(2, "ApiKey"),
            "AdditionalPropertiesItem" if value.is_boolean() => Choice::Boolean(2),
            "AdditionalPropertiesItem" if is_version_2 => Choice::Inner(1, "Schema"),
            "AdditionalPropertiesItem" => Choice::Inner(1, "SchemaOrReference"),
            "SchemaOrReference" => either("Schema"),
            "ParameterOrReference" => either("Parameter"),
            "RequestBodyOrReference" => either("RequestBody"),
            "ResponseOrReference" => either("Response"),
            "SecuritySchemeOrReference" => either("SecurityScheme"),
            "Default" => match value {
                Value::Bool(_) => Choice::Boolean(2),
                Value::Number(_) => Choice::This(self.get("Number").unwrap_or(&NOTHING)),
                Value::String(_) => Choice::This(self.get("Text").unwrap_or(&NOTHING)),
                _ => Choice::This(&NOTHING),
            },
            name => Choice::This(self.get(name).unwrap_or(&NOTHING)),
        }
    }

    fn get(&self, name: &str) -> Option<&Message> {
        self.0.iter().find(|message| message.name == name)
    }
}

impl Message {
    fn parse(line: &'static str) -> Option<Self> {
        let mut words = line.split_whitespace();
        Some(Self { name: words.next()?, fields: words.filter_map(Field::parse).collect() })
    }

    /// The field of this key.
    pub(super) fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key && !matches!(key, "*" | "~"))
    }

    /// The field of keys that have none of their own.
    pub(super) fn rest(&self, is_extension: bool) -> Option<&Field> {
        let of = |key: &str| self.fields.iter().find(|field| field.key == key);
        if is_extension { of("~").or_else(|| of("*")) } else { of("*") }
    }
}

impl Field {
    fn parse(word: &'static str) -> Option<Self> {
        let (key, rest) = word.split_once('=')?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let form = match &rest[digits..] {
            "" => Form::Leaf,
            "#" => Form::Double,
            "?" => Form::Any,
            rest => match rest.split_at(1) {
                ("!", name) => Form::Whole(name),
                (_, name) => Form::Message(name),
            },
        };
        Some(Self { key, number: rest[..digits].parse().ok()?, form })
    }
}
