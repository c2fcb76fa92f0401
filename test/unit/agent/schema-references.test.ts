// References inside a schema, put in place for the grammar.
import { expect, test } from "bun:test";
import { inlineReferences } from "../../../src/agent/schema-references.ts";

test("a reference is replaced by what it names, with what stands beside it", () => {
  const schema = { $ref: "#/$defs/a", title: "x", $defs: { a: { type: "object", properties: { n: { $ref: "#/$defs/b~1c" } } }, "b/c": { type: "integer" } } };
  expect(inlineReferences(schema)).toMatchObject({ type: "object", title: "x", properties: { n: { type: "integer" } } });
});

test("lists of schemas are looked into, data is not", () => {
  const schema = { anyOf: [{ $ref: "#/definitions/a" }, { enum: [{ $ref: "#/definitions/a" }] }], definitions: { a: { type: "null" } } };
  expect(inlineReferences(schema)).toMatchObject({ anyOf: [{ type: "null" }, { enum: [{ $ref: "#/definitions/a" }] }] });
});

test("a reference that leads to itself, nowhere or outside allows anything", () => {
  const loop = { properties: { next: { $ref: "#" }, list: { items: { $ref: "#/$defs/node" } } }, $defs: { node: { properties: { child: { $ref: "#/$defs/node" } } } } };
  expect(inlineReferences(loop)).toMatchObject({ properties: { next: { properties: { next: true } }, list: { items: { properties: { child: true } } } } });
  expect(inlineReferences({ properties: { a: { $ref: "#/none" }, b: { $ref: "https://elsewhere.example/s" }, c: { $ref: "#/properties/c" } } })).toEqual({ properties: { a: true, b: true, c: true } });
});
