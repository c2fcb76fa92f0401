// What a text engine is offered of the tools: their arguments without those that small models only fill in wrongly, and
// the calls that must not be made now. Prompt and grammar are made from the same offer.
import { z } from "zod";
import type { ToolSpec } from "../core/tool.ts";
import { isRecord } from "./gbnf.ts";
import type { ForbiddenObject } from "./grammar.ts";

export interface ObjectSchema {
  [key: string]: unknown;
  properties: Record<string, unknown>;
  required: string[];
}

/**
 * JSON Schema of a tool's arguments as the model writes them. Arguments marked `advanced` are left out until a result
 * named them: `revealed` holds them as `tool argument`.
 */
export function offeredArguments(tool: ToolSpec, revealed: ReadonlySet<string> = new Set()): ObjectSchema {
  const schema = z.toJSONSchema(tool.schema, { io: "input" });
  const required = schema.required ?? [];
  const kept = Object.entries(schema.properties ?? {}).filter(([name, value]) => required.includes(name) || revealed.has(`${tool.name} ${name}`) || !isAdvanced(value));
  return { type: "object", properties: Object.fromEntries(kept), required, additionalProperties: false };
}

/** The advanced arguments of a tool that a result of it speaks of, as `tool argument`. */
export function namedArguments(tool: ToolSpec, resultText: string): string[] {
  const { properties = {} } = z.toJSONSchema(tool.schema, { io: "input" });
  const names = Object.keys(properties).filter((name) => isAdvanced(properties[name]) && new RegExp(`\\b${name}\\b`).test(resultText));
  return names.map((name) => `${tool.name} ${name}`);
}

function isAdvanced(schema: unknown): boolean {
  return isRecord(schema) && schema["advanced"] === true;
}

/** More text than this in a call is not worth a grammar that tells it apart. */
const forbiddenCharsMax = 400;
const variantsMax = 8;

/** Every way to write the same try again: an argument that has its default may be left out. */
export function callPatterns(tool: ToolSpec, args: Record<string, unknown>, revealed: ReadonlySet<string>): ForbiddenObject[] {
  const { properties } = offeredArguments(tool, revealed);
  const own = tool.identity ? tool.identity.map((name) => args[name]) : args;
  if (JSON.stringify(own).length > forbiddenCharsMax) return [];
  let patterns: Map<string, unknown>[] = [new Map()];
  for (const [name, schema] of Object.entries(properties)) {
    if (tool.identity && !tool.identity.includes(name)) continue;
    const fallback = isRecord(schema) ? schema["default"] : undefined;
    const value = args[name] ?? fallback;
    const ways = fallback !== undefined && value === fallback ? [undefined, value] : [value];
    patterns = patterns.flatMap((pattern) => ways.map((way) => new Map([...pattern, [name, way]])));
  }
  return patterns.slice(0, variantsMax);
}
