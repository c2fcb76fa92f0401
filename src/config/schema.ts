// Every key of the configuration: type, range, default, meaning. Nothing else in the program states a default again.
import { z } from "zod";
import { flatten, groupSchema, type Key, key, nest, optional, type Values } from "./keys.ts";

/** Longest wait that a timer takes, 24.8 days; a longer one would fire at once. */
const timerMsMax = 2_147_483_647;

const boolean = () => z.boolean();
const text = () => z.string().min(1);
const textOrNull = () => z.string().min(1).nullable();
const url = () => z.url({ protocol: /^https?$/, error: "expected an http or https URL" });
const waitMs = () => z.int().min(1).max(timerMsMax);
const count = () => z.int().min(0);
const positive = () => z.int().min(1);

const CustomModel = () =>
  z
    .object({
      name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/),
      path: text().optional(),
      url: url().optional(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/i).optional(),
      bytes: positive().optional(),
      contextWindow: positive().optional(),
    })
    .refine((model) => (model.path === undefined) !== (model.url === undefined), "expected exactly one of path and url");

/** Ids of the providers that exist without being configured. */
export const builtInProviders = ["llama", "llama-server", "scripted"] as const;

const Provider = () =>
  z.object({
    id: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .refine((id) => !(builtInProviders as readonly string[]).includes(id), "this id is built in: choose another one"),
    kind: z.enum(["llama-server", "openai-compatible"]),
    url: url(),
    apiKey: text().optional(),
    apiKeyEnvVar: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/).optional(),
    defaultChatModel: text().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    supportsTools: z.boolean().optional(),
    supportsParallelTools: z.boolean().optional(),
    contextWindow: positive().optional(),
    requestTimeoutMs: waitMs().optional(),
    maxOutputTokens: positive().optional(),
    extraBody: z.record(z.string(), z.unknown()).optional(),
  });

function unique<Item>(items: readonly Item[], nameOf: (item: Item) => string): boolean {
  return new Set(items.map(nameOf)).size === items.length;
}

export const configKeys = {
  defaultProvider: optional(text, "Provider to use: `llama`, `llama-server`, `scripted`, or an id of `llm.providers`"),
  defaultModel: optional(text, "Model to use"),
  localModels: {
    mode: key(null, () => z.enum(["managed", "external"]).nullable(), "`managed`: this program runs the model; `external`: the server at `localModels.url`; null: managed when a model is installed or named and the native engine loads, else external"),
    url: key("http://127.0.0.1:8080", url, "The llama-server of external mode, also the fallback when the native engine cannot serve"),
    apiKey: optional(text, "Key that the llama-server asks for"),
    managed: {
      modelId: key(null, textOrNull, "Name in the catalogue, or path; null: the catalogue's default when installed"),
      engine: key("llama", () => z.enum(["llama", "llama-server"]), "`llama`: in process; `llama-server`: a server of our own on a loopback port with a random key"),
      serverPath: key(null, textOrNull, "The llama-server program; null: searched in PATH"),
      port: key(19091, () => z.int().min(0).max(65535), "Port of that server; 0 or taken: any free one"),
      contextSize: key(0, count, "Context in tokens; 0: fitted to the machine"),
      gpuLayers: key("auto", () => z.union([z.literal("auto"), count()]), "Layers on the GPU; `auto`: fitted to the machine"),
      threads: key(0, () => z.int().min(0).max(1024), "Threads of the engine; 0: the cores that this process may use"),
      kvCacheType: key("auto", () => z.enum(["auto", "f16", "q8_0", "q4_0"]), "Type of the attention cache; `auto`: fitted to the machine"),
      flashAttention: key("auto", () => z.enum(["auto", "on", "off"]), "Flash attention; `auto`: where the model and the machine can"),
      promptState: {
        enabled: key(true, boolean, "Keep computed states of the prompt on disk"),
        maxBytes: key(2_147_483_648, count, "Most bytes of kept states; the least used go first"),
      },
    },
    completionMaxTokens: key(16_384, () => z.int().min(64).max(131_072), "Most tokens of one generation"),
    thinking: key("auto", () => z.enum(["auto", "on", "off"]), "`auto` follows the thinking level; `on` and `off` override it"),
    reasoningBudgetTokens: key(1500, count, "Tokens of thinking at level `medium`; half at `low`, a quarter at `minimal`, twice above"),
    healthTimeoutMs: key(1000, () => z.int().min(1).max(1000), "Wait for a health answer of a server"),
    requestTimeoutMs: key(300_000, waitMs, "Wait for an answer that is not streamed"),
    firstTokenTimeoutMs: key(1_800_000, waitMs, "Wait for the first byte while a server reads the prompt"),
    streamTotalTimeoutMs: key(21_600_000, waitMs, "Longest generation"),
    download: {
      hfEndpoint: key("https://huggingface.co", url, "Where models come from; a mirror can be named"),
      connections: key(4, () => z.int().min(1).max(16), "Connections of one download"),
    },
    customModels: key([], () => z.array(CustomModel()).refine((models) => unique(models, (model) => model.name), "two models have the same name"), "Models added to the catalogue"),
  },
  llm: {
    providers: key([], () => z.array(Provider()).refine((providers) => unique(providers, (provider) => provider.id), "two providers have the same id"), "Servers to choose from, each with `id`, `kind` and `url`"),
    activeTextProvider: key(null, textOrNull, "Another name for `defaultProvider`; both set and different is an error"),
    toolTransport: key("auto", () => z.enum(["auto", "grammar", "native_tools"]), "How tools are offered: bound by a grammar, or as the server's own tool calls"),
    retry: {
      enabled: key(true, boolean, "Retry transient failures"),
      maxRetries: key(3, () => z.int().min(0).max(100), "Most retries in a row"),
      baseDelayMs: key(2000, () => z.int().min(0).max(timerMsMax), "Wait before the first retry; doubled for each further one"),
    },
    idleTimeoutMs: key(300_000, waitMs, "No byte for so long is a timeout; for a llama-server's first byte `localModels.firstTokenTimeoutMs` counts instead"),
    fallback: {
      failureThreshold: key(3, positive, "Sidecar and text mode: next provider after so many failures in a row"),
      appendLocal: key(true, boolean, "Try the local model last"),
    },
  },
  agent: {
    maxSteps: key(25, positive, "Steps of a leg, and the sidecar's ceiling when `maxSteps` is omitted"),
    task: {
      maxSteps: key(1000, positive, "Most steps of a prompt in JSON and text mode"),
      maxDurationMs: key(7_200_000, waitMs, "Longest task"),
      autoContinue: key(true, boolean, "Begin a new leg by itself when one is used up"),
    },
    approvalLevel: optional(() => z.literal([1, 2, 3, 4, 5]), "What is done without asking, 1 to 5; without a value 1 in the sidecar, 2 elsewhere"),
    readScope: key("working-dir", () => z.enum(["working-dir", "unrestricted"]), "What may be read without asking"),
    toolTimeoutMs: key(60_000, waitMs, "Longest run of any tool but `shell.run`"),
    maxParallelToolCalls: key(8, () => z.int().min(1).max(16), "Calls that run side by side"),
    batchResultMaxChars: key(32_000, positive, "Most characters of the results of one step together"),
    loop: {
      warnAt: key(3, positive, "Same calls in a row before a warning"),
      vetoAt: key(5, positive, "Same calls in a row before the call is refused"),
      stopAfterVetoes: key(3, positive, "Refusals before the turn ends"),
      wanderWarnAt: key(6, positive, "Steps without anything new before a warning"),
      wanderStopAt: key(12, positive, "Steps without anything new before the turn ends"),
    },
    providerWait: {
      enabled: key(true, boolean, "Sidecar and text mode: wait for a provider that went away"),
      maxWaitMs: key(300_000, waitMs, "Longest such wait"),
    },
    compaction: {
      enabled: key(true, boolean, "Compact a conversation that nears the end of the context by itself"),
      reserveTokens: key(16_384, count, "Tokens kept free, at most a quarter of the window"),
      compressionRatio: key(0.5, () => z.number(), "Share of lines to keep; outside of 0 to 1 it counts as 0.5"),
      preserveRecent: key(2, count, "Newest messages that are never compacted"),
      query: key(null, textOrNull, "What the kept lines should be about; null: the last request"),
    },
  },
  approvals: {
    timeoutMs: key(0, () => z.int().min(0).max(timerMsMax), "Wait for an answer, then it counts as no; 0: without end"),
  },
  tools: {
    shell: {
      defaultTimeoutMs: key(120_000, waitMs, "Longest command when the call names no time"),
      sandbox: key("auto", () => z.enum(["auto", "required", "off"]), "Confine commands: where the system can, or no command without, or never"),
      network: key(false, boolean, "Let confined commands use the network"),
      readPaths: key([], () => z.array(text()), "Folders that confined commands may read beside the workspace"),
      writePaths: key([], () => z.array(text()), "Folders that confined commands may write beside the workspace"),
    },
  },
  sessions: {
    retention: {
      enabled: key(false, boolean, "Remove old sessions"),
      maxAgeDays: key(90, positive, "Days since the last entry after which a session is removed"),
      maxRows: key(null, () => positive().nullable(), "Most sessions that are kept, newest first"),
    },
    undo: {
      maxBytes: key(1_073_741_824, count, "Kept contents of what tools changed, oldest go first; 0: none"),
    },
  },
  tracing: {
    trace: {
      enabled: key(null, () => z.boolean().nullable(), "Write every event of a session to a file; null: no"),
      maxBytesPerSession: key(10_485_760, positive, "Most bytes of such a file"),
    },
  },
  log: {
    level: key("info", () => z.enum(["debug", "info", "warn", "error"]), "Least level that is logged"),
  },
  skills: {
    catalogTokenBudget: key(512, count, "Most tokens of the list of skills in the prompt"),
    disabled: key([], () => z.array(text()), "Names of skills that are not offered"),
  },
} as const;

/** The configuration in force: every key, defaults filled in. */
export type Config = Values<typeof configKeys>;

/** Keys by dotted name, in order. */
export const keysByName: ReadonlyMap<string, Key> = flatten(configKeys);

/** The configuration of somebody who configured nothing; makes no schema. */
export function defaultConfig(): Config {
  return nest(configKeys, (_, key) => structuredClone(key.default)) as Config;
}

/** One zod schema of the whole file. */
export function configSchema(): z.ZodObject {
  return groupSchema(configKeys);
}

/** JSON Schema (2020-12) of the configuration file. */
export function configJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(configSchema(), { target: "draft-2020-12", io: "input" }) as Record<string, unknown>;
}
