// Package openapitest holds HTTP traffic against an OpenAPI 3.1 document, for tests of
// this module alone.
//
//	doc, err := openapitest.Parse(raw)
//	client.Transport = doc.Transport(t, client.Transport)
//
// Every exchange that passes is checked in both directions, and t is told of each
// violation:
//
//   - The answer is what the document says, and holds no field that it does not name. The
//     document itself leaves objects open, for the sake of clients.
//   - A request that the document forbids is refused with INVALID_JSON,
//     INVALID_PARAMETER or BODY_TOO_LARGE, and a request that it allows is not refused
//     with INVALID_PARAMETER. What no schema can say is let pass: see inexpressible. Where
//     errors have HTTP statuses of their own, as on the control API, what is allowed
//     depends on the state of payments, and is not checked.
//   - A path that the document does not have is answered with NOT_FOUND, a method that it
//     does not have with METHOD_NOT_ALLOWED.
//
// [Document.Uncovered] then tells which documented outcomes no exchange has had. A
// Document is safe for concurrent use.
//
// github.com/getkin/kin-openapi reads the document and checks that it is a valid one, with
// its examples. The traffic is validated by github.com/santhosh-tekuri/jsonschema (JSON
// Schema 2020-12), which compiles each schema once: kin-openapi's own filter compiles at
// every call.
package openapitest
