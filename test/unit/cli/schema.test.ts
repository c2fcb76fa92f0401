// `atomic schema`: valid JSON Schema that takes every line of the wires, and what later versions add, and refuses faults.
import { describe, expect, test } from "bun:test";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import { JsonEvent } from "../../../src/wire/json/schema.ts";
import { schemaText } from "../../../src/cli/schema.ts";

const config = () => ({ type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "number" } } });

const validators = new Map<string | undefined, ValidateFunction>();

function compiled(part?: string): ValidateFunction {
  const validator = validators.get(part) ?? compile(part);
  validators.set(part, validator);
  return validator;
}

function compile(part?: string): ValidateFunction {
  return new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(schemaText(part, config)) as object);
}

const uuid = "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000";
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const header = { type: "session", version: 3, id: uuid, timestamp: "2026-01-02T03:04:05.678Z", cwd: "/w", agentVersion: "0.1.0", sandbox: "none" };
const user = { role: "user", content: [{ type: "text", text: "hi" }], timestamp: 1 };

const jsonLines: [string, object, boolean][] = [
  ["a header", header, true],
  ["a header with a field of the future", { ...header, futureField: { a: 1 } }, true],
  ["a header of another version", { ...header, version: 4 }, false],
  ["a header without a folder", { ...header, cwd: undefined }, false],
  ["a message", { type: "message_end", message: user }, true],
  ["a message with a field of the future", { type: "message_end", message: { ...user, extra: true }, extra: 1 }, true],
  ["a message of no role", { type: "message_end", message: { ...user, role: "nobody" } }, false],
  ["the end", { type: "agent_settled", outcome: "ok", exitCode: 0, usage, durationMs: 3 }, true],
  ["the end with a fraction of a token", { type: "agent_settled", outcome: "ok", exitCode: 0, usage: { ...usage, input: 0.5 }, durationMs: 3 }, false],
  ["null where a field is absent", { type: "session_info_changed", name: null }, false],
  ["a type of the future", { type: "x_future", anything: null }, true],
  ["no type", { version: 3 }, false],
];

const event = { kind: "event", id: uuid, type: "log", payload: { level: "info", message: "m" } };
const sidecarFrames: [string, object, boolean][] = [
  ["an event", event, true],
  ["an event with fields of the future", { ...event, more: 1, payload: { ...event.payload, more: 1 } }, true],
  ["an event of the future", { ...event, type: "x_future", payload: {} }, true],
  ["an event of the future without a payload", { kind: "event", id: uuid, type: "x_future" }, false],
  ["an event with a wrong payload", { ...event, payload: { level: "loud", message: "m" } }, false],
  ["a step error", { ...event, type: "error", payload: { message: "m", code: "step_error:transport", willRetry: true } }, true],
  ["an unknown step error", { ...event, type: "error", payload: { message: "m", code: "step_error:luck" } }, false],
  ["a request", { kind: "request", id: 7, type: "send_message", payload: { sessionId: "s", text: "hi", maxSteps: null } }, true],
  ["a request without its payload", { kind: "request", id: "a", type: "send_message" }, false],
  ["a response", { kind: "response", id: uuid, correlationId: 7, ok: true, payload: null }, true],
  ["a response with an unknown code", { kind: "response", id: uuid, correlationId: "", ok: false, payload: {}, error: { message: "m", code: "no" } }, false],
];

type Alternative = { $ref?: string; properties?: { type?: { const?: string } } };

describe("schemaText", () => {
  const parts: [string, [string, object, boolean][]][] = [["json", jsonLines], ["sidecar", sidecarFrames]];
  for (const [part, rows] of parts) {
    for (const [name, line, valid] of rows) {
      test(`${part}: ${name} is ${valid ? "valid" : "refused"}`, () => {
        const plain: unknown = JSON.parse(JSON.stringify(line));
        expect(compiled(part)(plain)).toBe(valid);
        if (valid) expect(compiled()(plain)).toBe(true);
      });
    }
  }

  test("the whole refuses what neither wire knows", () => {
    expect(compiled()({ version: 3 })).toBe(false);
    expect(compiled()({ kind: "event", type: 5 })).toBe(false);
  });

  test("each line type is one alternative of the root", () => {
    const { anyOf, $defs } = JSON.parse(schemaText("json", config)) as { anyOf: Alternative[]; $defs: Record<string, Alternative> };
    const types = anyOf.map((entry) => (entry.$ref === undefined ? entry : $defs[entry.$ref.replace("#/$defs/", "")])?.properties?.type?.const);
    expect(types.filter((type) => type !== undefined).toSorted()).toEqual(JsonEvent.options.flatMap((option) => [...option.shape.type.values]).toSorted());
  });

  test("each part of the whole works where it is embedded", () => {
    const whole = JSON.parse(schemaText(undefined, config)) as object;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(whole, "whole");
    expect(ajv.validate({ $ref: "whole#/$defs/config" }, { a: 1 })).toBe(true);
    expect(ajv.validate({ $ref: "whole#/$defs/config" }, { a: "1" })).toBe(false);
  });

  test("config alone is the configuration's schema", () => {
    expect(JSON.parse(schemaText("config", config)) as unknown).toEqual(config());
  });

  test("an unknown part is a usage error that names the nearest", () => {
    expect(() => schemaText("jsno", config)).toThrow('unknown schema "jsno": did you mean json?; there are json, sidecar, config');
  });
});
