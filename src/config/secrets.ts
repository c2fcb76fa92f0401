// The credentials of a configuration as texts, for whoever has to keep them out of what is written down.
import type { LoadedConfig } from "./load.ts";

/** Keys and header values of every configured server, and the passwords in their addresses. */
export function secretsOf({ config, variable }: Pick<LoadedConfig, "config" | "variable">): string[] {
  const { llm, localModels } = config;
  const found = [localModels.apiKey, passwordOf(localModels.url)];
  for (const { apiKey, apiKeyEnvVar, headers, url } of llm.providers) {
    found.push(apiKey, apiKeyEnvVar === undefined ? undefined : variable(apiKeyEnvVar), passwordOf(url), ...Object.values(headers ?? {}).flatMap(wordsOf));
  }
  return [...new Set(found.filter((secret) => secret !== undefined && secret !== ""))] as string[];
}

/** `Bearer x` is a secret as a whole and in its last word. */
function wordsOf(header: string): string[] {
  return [header, header.slice(header.lastIndexOf(" ") + 1)];
}

function passwordOf(url: string): string | undefined {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : undefined;
}
