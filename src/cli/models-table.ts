// The table of `atomic models list`.
import { fileInfo, modelPaths } from "../models/folder.ts";
import { installedModels, type Store } from "../models/store.ts";
import { formatBytes } from "./models-progress.ts";

/** Names, sizes, licences, what is installed, and what this machine's memory can hold. */
export async function modelsTable(store: Store, totalMemoryBytes: number): Promise<string> {
  const installed = await installedModels(store);
  const header = ["NAME", "SIZE", "LICENCE", "INSTALLED", "FITS", ""];
  const rows: string[][] = [];
  for (const entry of store.catalog) {
    const found = installed.find(({ id }) => id === entry.name);
    const bytes = entry.bytes ?? found?.bytes;
    const partial = found ? undefined : await fileInfo(modelPaths(store.modelsDir, entry.file).partial);
    const state = found ? "yes" : partial && partial.bytes > 0 ? `partly (${portion(partial.bytes, bytes)})` : "no";
    const note = entry.default ? "default" : entry.path ?? (entry.verified ? "" : entry.sources.some(({ kind }) => kind === "url") ? "your own" : "not run by us");
    rows.push([entry.name, bytes === undefined ? "?" : formatBytes(bytes), entry.licence ?? "?", state, fits(bytes, totalMemoryBytes), note]);
  }
  for (const { id, path, bytes, entry } of installed) {
    if (!entry) rows.push([id, formatBytes(bytes), "?", "yes", fits(bytes, totalMemoryBytes), path]);
  }
  return `${align([header, ...rows])}\n${formatBytes(totalMemoryBytes)} of memory here. Models folder: ${store.modelsDir}\n`;
}

/** The weights, a tenth for working memory, and 512 MiB for context and program. */
export function memoryNeedBytes(bytes: number): number {
  return Math.round(bytes * 1.1) + 512 * 1024 * 1024;
}

function fits(bytes: number | undefined, totalMemoryBytes: number): string {
  return bytes === undefined ? "?" : memoryNeedBytes(bytes) <= totalMemoryBytes ? "yes" : "no";
}

function portion(bytes: number, total: number | undefined): string {
  return total === undefined ? formatBytes(bytes) : `${Math.floor((bytes / total) * 100)} %`;
}

function align(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()).join("\n") + "\n";
}
