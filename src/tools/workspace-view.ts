// What the loop may look up in the workspace.
import type { WorkspaceView } from "../core/tool.ts";
import { exactText, fileColumns, fileLines, fileSettings, fileText } from "./file-lines.ts";
import { isForeign, sharedTexts } from "./related-files.ts";
import { rowsSpokenOf } from "./table/rows-spoken.ts";
import { workspaceNames } from "./workspace-names.ts";

export function workspaceView(workspace: string, home: string): WorkspaceView {
  return {
    names: () => workspaceNames(workspace),
    lines: (path) => fileLines(workspace, home, path),
    text: (path) => fileText(workspace, home, path),
    exact: (path) => exactText(workspace, home, path),
    columns: (path) => fileColumns(workspace, home, path),
    settings: (path) => fileSettings(workspace, home, path),
    shared: (files, request) => sharedTexts(workspace, home, files, request),
    told: async (path, request) => rowsSpokenOf(path, (await fileText(workspace, home, path)) ?? "", request),
    isForeign: (files, request) => isForeign(workspace, home, files, request),
  };
}
