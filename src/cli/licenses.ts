// `atomic licenses`: the licence texts of everything inside the executable.
import { AgentError } from "../core/error.ts";
import { licensesFile } from "../embedded.ts";

/** @throws AgentError `usage` when run from source, where nothing is embedded */
export async function licensesText(): Promise<string> {
  if (licensesFile === undefined) throw new AgentError("usage", "The licence texts are collected by the build; run it and ask the executable.");
  return Bun.file(licensesFile).text();
}
