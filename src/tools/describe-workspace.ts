// What a model is told of the workspace beside a request: what it would take for granted wrongly. A list of the files is not
// told: a small model that has one before it copies names from it.
import { namedFiles } from "../core/named-files.ts";
import type { WorkspaceNames } from "../core/tool.ts";
import { workspaceNames } from "./workspace-names.ts";

/** One line; "" when there is nothing to tell, or too much in the folder to know. */
export async function describeWorkspace(workspace: string, request: string): Promise<string> {
  const names = await workspaceNames(workspace);
  if (!names) return "";
  return names.files.length === 0 && names.folders.length === 1 ? "The folder is empty." : missing(names, request);
}

/** Small models take another file in the place of one that is not there. */
function missing({ files, folders }: WorkspaceNames, request: string): string {
  const lower = new Set([...files, ...folders].flatMap((path) => [path, path.slice(path.lastIndexOf("/") + 1)]).map((name) => name.toLowerCase()));
  const absent = namedFiles(request).filter((name) => !lower.has(name.toLowerCase()));
  return absent.length === 0 ? "" : `(There is no ${absent.join(" and no ")} here.)`;
}
