// The configuration as a table for people: docs/configuration.md and `atomic config list` say what it says.
import { variableOf } from "./names.ts";
import { keysByName } from "./schema.ts";
import { expectation } from "./values.ts";

/** Markdown table of all keys: name, type, default, meaning, variable. */
export function configTable(): string {
  const rows = [...keysByName].map(([name, key]) => {
    const type = expectation(key.schema).replaceAll("|", "\\|");
    const value = key.default === undefined ? "none" : `\`${JSON.stringify(key.default)}\``;
    return `| \`${name}\` | ${type} | ${value} | ${key.description} | \`${variableOf(name)}\` |`;
  });
  return ["| key | type | default | meaning | variable |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}
