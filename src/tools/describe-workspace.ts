// What a model is told of the workspace beside a request: what it would take for granted wrongly, and where it would not look. A
// list of the files is not told: a small model that has one before it copies names from it.
import { namedFiles } from "../core/named-files.ts";
import type { WorkspaceNames } from "../core/tool.ts";
import { relatedFiles, relatedText } from "./related-files.ts";
import { workspaceNames } from "./workspace-names.ts";

/** Some lines; "" when there is nothing to tell, or too much in the folder to know. */
export async function describeWorkspace(workspace: string, home: string, request: string): Promise<string> {
  const names = await workspaceNames(workspace);
  if (!names) return "";
  if (names.files.length === 0 && names.folders.length === 1) return "The folder is empty.";
  return [missing(names, request), relatedText(await relatedFiles(workspace, home, names.files, request))].filter(Boolean).join("\n");
}

/** Small models take another file in the place of one that is not there. */
function missing({ files, folders }: WorkspaceNames, request: string): string {
  const lower = new Set([...files, ...folders].flatMap((path) => [path, path.slice(path.lastIndexOf("/") + 1)]).map((name) => name.toLowerCase()));
  const absent = namedFiles(request).filter((name) => !lower.has(name.toLowerCase()));
  return absent.length === 0 ? "" : `(There is no ${absent.join(" and no ")} here.)`;
}
