// The models that can be had by name: models/catalog.json, checked, plus what the user's configuration adds.
// Knows nothing of what is on the disk.
import { isAbsolute } from "node:path";
import { z } from "zod";
import catalogFile from "../../models/catalog.json" with { type: "json" };
import { AgentError } from "../core/error.ts";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits");
const FileName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.gguf$/, "must be a plain file name that ends in .gguf");

/** `<endpoint>/<repository>/resolve/<revision>/<file>`; the endpoint is configuration. */
export const HuggingfaceSource = z.strictObject({
  kind: z.literal("huggingface"),
  repository: z.string().regex(/^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/),
  revision: z.string().regex(/^[0-9a-f]{40}$/, "must be a whole commit id"),
  file: FileName,
});
export type HuggingfaceSource = z.infer<typeof HuggingfaceSource>;

/** Python packages whose one payload each, in this order, are the file. `bytes` is the size of the payload. */
export const PackagesSource = z.strictObject({
  kind: z.literal("packages"),
  packages: z
    .array(z.strictObject({ name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/), version: z.string().regex(/^[0-9][0-9.]*$/), bytes: z.int().min(1) }))
    .min(1),
});
export type PackagesSource = z.infer<typeof PackagesSource>;
export type Package = PackagesSource["packages"][number];

export const UrlSource = z.strictObject({ kind: z.literal("url"), url: z.url({ protocol: /^https?$/ }) });
export type UrlSource = z.infer<typeof UrlSource>;

export type Source = HuggingfaceSource | PackagesSource | UrlSource;

export const CatalogEntry = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/),
    default: z.literal(true).optional(),
    file: FileName,
    bytes: z.int().min(1),
    sha256: Sha256,
    licence: z.string().min(1),
    /** Tokens that the model was trained for. */
    contextWindow: z.int().min(512),
    template: z.strictObject({ format: z.enum(["chatml"]), thinking: z.boolean(), notes: z.string() }),
    /** The file was fetched and run by the project's own tests. */
    verified: z.boolean(),
    /** In the order in which they are tried. */
    sources: z.array(z.discriminatedUnion("kind", [HuggingfaceSource, PackagesSource])).min(1),
  })
  .refine((entry) => entry.sources.every((source) => source.kind !== "packages" || sum(source.packages) === entry.bytes), {
    message: "the packages do not add up to the size of the file",
  });
export type CatalogEntry = z.infer<typeof CatalogEntry>;

export const CatalogFile = z
  .strictObject({ models: z.array(CatalogEntry) })
  .refine(({ models }) => models.filter((entry) => entry.default).length === 1, { message: "exactly one model must be the default" })
  .refine(({ models }) => new Set(models.map((entry) => entry.name)).size === models.length, { message: "two models have one name" })
  .refine(({ models }) => new Set(models.map((entry) => entry.file.toLowerCase())).size === models.length, { message: "two models have one file" });

/** A model that can be named; one of the user's own may lack what the catalogue always knows. */
export interface ModelEntry {
  name: string;
  /** Name inside the models folder. */
  file: string;
  bytes?: number;
  sha256?: string;
  licence?: string;
  contextWindow?: number;
  template?: CatalogEntry["template"];
  verified: boolean;
  default: boolean;
  sources: readonly Source[];
  /** Where a model of the user's own lies; it is used from there and never downloaded. */
  path?: string;
}

export type Catalog = readonly ModelEntry[];

/** One of `localModels.customModels`. */
export interface CustomModel {
  name: string;
  path?: string | undefined;
  url?: string | undefined;
  sha256?: string | undefined;
  bytes?: number | undefined;
  contextWindow?: number | undefined;
}

/** The catalogue with the user's own models; one of these replaces the catalogue's of the same name.
 * @throws AgentError `config_invalid` */
export function loadCatalog(customModels: readonly CustomModel[] = [], homeDir = ""): Catalog {
  const custom = customModels.map((model, index) => customEntry(model, `localModels.customModels[${index}]`, homeDir));
  const own = new Set(custom.map((entry) => entry.name));
  if (own.size < custom.length) throw new AgentError("config_invalid", "localModels.customModels: two models have one name; rename one");
  const shipped = CatalogFile.parse(catalogFile).models.map((entry) => ({ ...entry, default: entry.default === true }));
  return [...shipped.filter((entry) => !own.has(entry.name)), ...custom];
}

/** What to ask for when nothing is named. */
export function defaultEntry(catalog: Catalog): ModelEntry {
  const entry = catalog.find((candidate) => candidate.default) ?? catalog[0];
  if (!entry) throw new AgentError("internal", "the catalogue is empty");
  return entry;
}

export function findEntry(catalog: Catalog, name: string): ModelEntry | undefined {
  return catalog.find((entry) => entry.name === name) ?? catalog.find((entry) => entry.file === name);
}

/** At most three of the names, nearest first, that could be meant. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  return names
    .map((candidate) => ({ candidate, distance: candidate.includes(wanted) ? 0 : editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

function customEntry(model: CustomModel, where: string, homeDir: string): ModelEntry {
  const fail = (problem: string): never => {
    throw new AgentError("config_invalid", `${where}: ${problem}`);
  };
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/.test(model.name)) fail(`name ${JSON.stringify(model.name)} may hold only letters, digits, ".", "_" and "-"`);
  if ((model.path === undefined) === (model.url === undefined)) fail("needs either path or url");
  const sha256 = model.sha256?.toLowerCase();
  if (sha256 !== undefined && !Sha256.safeParse(sha256).success) fail("sha256 must be 64 hexadecimal digits");
  const { name, bytes, contextWindow } = model;
  const known = { ...(sha256 === undefined ? {} : { sha256 }), ...(bytes === undefined ? {} : { bytes }), ...(contextWindow === undefined ? {} : { contextWindow }) };
  const common = { name, verified: false, default: false, ...known };
  const file = model.name.endsWith(".gguf") ? model.name : `${model.name}.gguf`;
  if (model.path !== undefined) {
    const path = model.path.startsWith("~/") && homeDir ? homeDir + model.path.slice(1) : model.path;
    if (!isAbsolute(path)) fail(`path ${JSON.stringify(model.path)} must be absolute or start with ~/`);
    return { ...common, file, sources: [], path };
  }
  const source = UrlSource.safeParse({ kind: "url", url: model.url });
  return source.success ? { ...common, file, sources: [source.data] } : fail(`url ${JSON.stringify(model.url)} must start with http:// or https://`);
}

function sum(packages: readonly { bytes: number }[]): number {
  return packages.reduce((total, part) => total + part.bytes, 0);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
