// The configuration in force, read once at the start: flag over variable over file over default.
import { AgentError } from "../core/error.ts";
import { readEnvFile, readVariables } from "./environment.ts";
import { parseConfig, readConfigText } from "./file.ts";
import { nest } from "./keys.ts";
import { nearestKey, didYouMean, stateDirVariable } from "./names.ts";
import { type Environment, ensureStateDir, type StatePaths, stateDirOf, statePaths } from "./paths.ts";
import { builtInProviders, type Config, configKeys, keysByName } from "./schema.ts";
import { checkValue } from "./values.ts";

export type Origin = "default" | "file" | "environment" | "flag";

export interface LoadedConfig {
  config: Config;
  /** For people, one line each. */
  warnings: string[];
  /** Where the value of a key (dotted name) comes from. */
  origin(name: string): Origin;
  /** A variable such as a provider's key: the process environment, else `<stateDir>/.env`; empty counts as unset. */
  variable(name: string): string | undefined;
  stateDir: string;
  paths: StatePaths;
}

/**
 * @param flags values by dotted name, as the command line gave them
 * @throws AgentError `state_unusable` (state directory), `config_invalid` (file or variable), `usage` (flag)
 */
export function loadConfig({ env, flags = {} }: { env: Environment; flags?: Readonly<Record<string, unknown>> }): LoadedConfig {
  const stateDir = stateDirOf(env);
  ensureStateDir(stateDir);
  const paths = statePaths(stateDir);
  const envFile = readEnvFile(paths.env);
  const variable = (name: string) => env[name] || envFile.values.get(name) || undefined;
  const text = readConfigText(paths.config);
  const file = text === undefined ? { values: new Map<string, unknown>(), warnings: [] } : parseConfig(text, paths.config);
  const variables = readVariables(merged(env, envFile.values));
  const layers: Layer[] = [
    ["flag", readFlags(flags)],
    ["environment", variables.values],
    ["file", file.values],
  ];
  const find = (name: string) => layers.find(([, values]) => values.has(name));
  const config = nest(configKeys, (name, key) => {
    const layer = find(name);
    return layer === undefined ? structuredClone(key.default) : layer[1].get(name);
  }) as Config;
  const { provider, ratio, warnings } = settle(config);
  return {
    config: {
      ...config,
      defaultProvider: provider,
      agent: { ...config.agent, compaction: { ...config.agent.compaction, compressionRatio: ratio } },
    },
    warnings: [...envFile.warnings, ...file.warnings, ...variables.warnings, ...warnings],
    origin: (name) => (find(name) ?? (name === "defaultProvider" ? find("llm.activeTextProvider") : undefined))?.[0] ?? "default",
    variable,
    stateDir,
    paths,
  };
}

/**
 * The fault of json-mode.md 9.6: provider and model are both saved and nobody knows the provider.
 * @param registered ids beside the built-in ones and those of `llm.providers`
 */
export function unknownSavedProvider(config: Config, registered: readonly string[] = []): string | undefined {
  const { defaultProvider: provider, defaultModel } = config;
  if (provider === undefined || defaultModel === undefined) return undefined;
  const known = [...builtInProviders, ...config.llm.providers.map(({ id }) => id), ...registered];
  if (known.includes(provider)) return undefined;
  return `the saved provider ${JSON.stringify(provider)} is unknown; known ones are ${known.join(", ")}. Set defaultProvider, or give --provider or --model`;
}

/**
 * The provider that two names of one setting say.
 * @throws AgentError `config_invalid` when they say different ones
 */
export function oneProvider(defaultProvider: string | undefined, activeTextProvider: string | null | undefined): string | undefined {
  const other = activeTextProvider ?? undefined;
  if (defaultProvider !== undefined && other !== undefined && defaultProvider !== other) {
    throw new AgentError("config_invalid", `defaultProvider is ${JSON.stringify(defaultProvider)} and llm.activeTextProvider is ${JSON.stringify(other)}: they are two names for one setting; unset one of them`);
  }
  return defaultProvider ?? other;
}

type Layer = readonly [Origin, ReadonlyMap<string, unknown>];

/** What spans several keys. */
function settle(config: Config): { provider: string | undefined; ratio: number; warnings: string[] } {
  const warnings: string[] = [];
  const provider = oneProvider(config.defaultProvider, config.llm.activeTextProvider);
  const { compressionRatio } = config.agent.compaction;
  const ratio = compressionRatio > 0 && compressionRatio < 1 ? compressionRatio : 0.5;
  if (ratio !== compressionRatio) warnings.push(`agent.compaction.compressionRatio is ${compressionRatio}, not between 0 and 1: 0.5 is used`);
  return { provider, ratio, warnings };
}

function readFlags(flags: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const key = keysByName.get(name);
    if (key === undefined) throw new AgentError("usage", `unknown key ${name}${didYouMean(nearestKey(name))}`);
    const checked = checkValue(name, key, value);
    if (!checked.ok) throw new AgentError("usage", checked.message);
    values.set(name, checked.value);
  }
  return values;
}

function merged(env: Environment, envFile: ReadonlyMap<string, string>): Environment {
  if (envFile.size === 0) return env;
  const result: Record<string, string | undefined> = { ...Object.fromEntries(envFile), [stateDirVariable]: undefined };
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== "") result[name] = value;
  return result;
}
