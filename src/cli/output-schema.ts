// `--output-schema FILE`: the JSON Schema that the final answer has to keep to (json-mode.md 9.3). Read before the first
// line goes out; nothing is fetched, so that a reference to another document is a fault of the schema.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type Ajv from "ajv";
import type { ErrorObject } from "ajv";
import { AgentError, messageOf } from "../core/error.ts";
import type { OutputContract } from "../session/session.ts";

/** @throws AgentError `usage` when the file can't be read, is no JSON, or is no JSON Schema that can be checked against */
export async function readOutputSchema(path: string, workspace: string): Promise<OutputContract> {
  const read = readJson(path, workspace);
  const schema = read === true ? {} : read === false ? { not: {} } : read;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) throw fault(path, "a JSON Schema is an object, true or false");
  const rules = schema as Record<string, unknown>;
  try {
    const validate = (await validatorOf(rules["$schema"])).compile(rules);
    return { schema: rules, check: (value) => (validate(value) ? [] : (validate.errors ?? []).map(describe)) };
  } catch (error) {
    throw fault(path, `not a JSON Schema: ${messageOf(error)}`, error);
  }
}

/** What the model is told at the end of the system text. */
export function outputInstruction({ schema }: OutputContract): string {
  return `The final answer is exactly one JSON value, without any other text, that is valid under this JSON Schema:\n${JSON.stringify(schema)}`;
}

function readJson(path: string, workspace: string): unknown {
  try {
    return JSON.parse(readFileSync(resolve(workspace, path), "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    throw fault(path, error instanceof SyntaxError ? `not JSON: ${error.message}` : messageOf(error), error);
  }
}

/** The dialect that `$schema` names; 2020-12 when it names none. */
async function validatorOf(dialect: unknown): Promise<Ajv> {
  const options = { strict: false, validateFormats: false, allErrors: true, logger: false } as const;
  if (typeof dialect === "string" && /draft-0[67]\//.test(dialect)) {
    const { default: Draft7 } = await import("ajv");
    return new Draft7(options);
  }
  if (typeof dialect === "string" && dialect.includes("/2019-09/")) {
    const { default: Draft2019 } = await import("ajv/dist/2019.js");
    return new Draft2019(options);
  }
  const { default: Draft2020 } = await import("ajv/dist/2020.js");
  return new Draft2020(options);
}

function describe({ instancePath, message = "is not valid", params }: ErrorObject): string {
  const more = Object.values(params).filter((value) => typeof value === "string" || Array.isArray(value));
  const named = more.length > 0 ? ` (${more.map((value) => JSON.stringify(value)).join(", ")})` : "";
  return `${instancePath === "" ? "the value" : instancePath} ${message}${named}`;
}

function fault(path: string, what: string, cause?: unknown): AgentError {
  return new AgentError("usage", `--output-schema ${path}: ${what}`, { cause });
}
