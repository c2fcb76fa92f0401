// What the loop may look up in the workspace.
import type { WorkspaceView } from "../core/tool.ts";
import { fileColumns, fileLines, fileText } from "./file-lines.ts";
import { workspaceNames } from "./workspace-names.ts";

export function workspaceView(workspace: string, home: string): WorkspaceView {
  return { names: () => workspaceNames(workspace), lines: (path) => fileLines(workspace, home, path), text: (path) => fileText(workspace, home, path), columns: (path) => fileColumns(workspace, home, path) };
}
