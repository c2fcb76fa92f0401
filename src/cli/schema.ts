// `atomic schema [json|sidecar|config]`: prints JSON Schema (2020-12) of the wires and the configuration.
import { AgentError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { type JsonSchema, jsonWireSchema, sidecarWireSchema, wholeSchema } from "../wire/json-schema.ts";

const parts = ["json", "sidecar", "config"] as const;

/**
 * The text to print, LF included; without a part everything in one schema.
 * @throws AgentError `usage` for a part that doesn't exist.
 */
export function schemaText(part: string | undefined, configJsonSchema: () => JsonSchema): string {
  return `${JSON.stringify(schemaOf(part, configJsonSchema), null, 2)}\n`;
}

function schemaOf(part: string | undefined, configJsonSchema: () => JsonSchema): JsonSchema {
  switch (part) {
    case undefined:
      return wholeSchema({ json: jsonWireSchema(), sidecar: sidecarWireSchema(), config: configJsonSchema() });
    case "json":
      return jsonWireSchema();
    case "sidecar":
      return sidecarWireSchema();
    case "config":
      return configJsonSchema();
    default: {
      const known = nearest(part, parts);
      throw new AgentError("usage", `unknown schema "${part}"${known === undefined ? "" : `: did you mean ${known}?`}; there are ${parts.join(", ")}`);
    }
  }
}
